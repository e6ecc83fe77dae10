import pytest

from bagwise.export.card import describe_model
from bagwise.export.card_page import card_page


@pytest.fixture(scope="module")
def card(digits_run):
    return describe_model(digits_run)


def test_every_metric_stands_with_its_interval(card):
    page = card_page(card)
    auc = card["test"]["metrics"]["auc"]
    assert f"| AUC | {auc['value']:.3f} | {auc['interval'][0]:.3f} – {auc['interval'][1]:.3f} |" in page
    assert page.count("\n| ") == len(card["test"]["metrics"]) + 2
    for part in (card["intended_use"], card["not_intended"], card["hashes"]["run"], "gated attention"):
        assert part in page


def test_what_was_not_measured_is_not_invented(card):
    unknown = {"value": None, "interval": None}
    page = card_page({**card, "test": {**card["test"], "metrics": {"auc": unknown}}})
    assert "| AUC | n/a | n/a |" in page


def test_names_are_text_and_no_markup(card):
    page = card_page({**card, "name": "<img src=x>\n# [a](b) | c"})
    assert page.startswith(r"# \<img src=x\> # \[a\](b) \| c")


def test_how_the_epoch_was_chosen_is_said(card):
    assert "trained to the last epoch" in card_page(card)
    chosen = card_page({**card, "protocol": {**card["protocol"], "validated": True, "best_epoch": 7}})
    assert "the epoch (7) was chosen on validation bags" in chosen
