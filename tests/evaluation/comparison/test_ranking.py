import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.ranking import (
    choose_metric,
    correct_p_values,
    describe_ranking,
    list_worse_than_majority,
    rank_methods,
)
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.evaluation.comparison.score_tables import make_score_rows
from bagwise.targets.classes import ClassTarget

OPTIONS = {"n_bags": 24}
LABELS = np.arange(40) % 2
N_FOLDS = 10


def make_probabilities(accuracy, seed):
    """Probabilities of the positive class whose AUC and accuracy grow with ``accuracy``."""
    generator = np.random.default_rng(seed)
    positive = np.clip(0.5 + accuracy * (LABELS - 0.5) + 0.1 * generator.normal(size=40), 0.01, 0.99)
    return np.stack([1 - positive, positive], axis=1)


def write_comparison(folder, methods):
    """Write the folder of a comparison with made-up predictions: one list of probabilities per method."""
    target = ClassTarget.unnamed(2)
    for name, probabilities in methods.items():
        for fold in range(N_FOLDS):
            rows = np.arange(fold * 4, fold * 4 + 4)
            predictions = {"targets": LABELS[rows].tolist(), "probabilities": probabilities[rows].tolist()}
            metrics = target.compute_metrics(LABELS[rows], probabilities[rows], 0.5)
            unit = {
                "method": name,
                "repeat": 0,
                "fold": fold,
                "n_training": 36,
                "rows": rows.tolist(),
                "threshold": 0.5,
                "predictions": {"bags": predictions},
                "metrics": {"bags": metrics},
                "seconds": {"fit": 1.0, "judge": 1.0},
            }
            path = folder / "units" / name / f"000-{fold:03d}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(unit))
    plan = {"data": "needles", "methods": {name: {} for name in methods}}
    (folder / "plan.json").write_text(json.dumps({"plan": plan}))
    return Comparison(folder)


MAJORITY = np.full((40, 2), 0.5)
GOOD, SIMILAR, BAD = make_probabilities(0.8, 0), make_probabilities(0.75, 1), make_probabilities(-0.2, 2)


@pytest.mark.parametrize("metric", [None, "accuracy", "log-loss", "Balanced accuracy", "brier"])
def test_rank_methods_sorts_by_the_metric_best_first(tmp_path, metric):
    methods = {"b": BAD, "majority": MAJORITY, "s": SIMILAR, "g": GOOD}
    ranking = rank_methods(write_comparison(tmp_path, methods), metric)
    means = [ranked.mean for ranked in ranking.methods]
    assert means == sorted(means, reverse=ranking.metric.greater_is_better)
    assert sorted(ranking.names) == sorted(methods)
    assert ranking.metric.name == {None: "auc", "log-loss": "log_loss", "Balanced accuracy": "balanced_accuracy"}.get(
        metric, metric
    )


def test_rank_methods_marks_the_best_and_those_not_distinguishable_from_it(tmp_path):
    comparison = write_comparison(tmp_path, {"bad": BAD, "majority": MAJORITY, "good": GOOD, "similar": SIMILAR})
    ranking = rank_methods(comparison, "brier")
    assert {ranked.method: ranked.marks for ranked in ranking.methods} == {
        "good": "*",
        "similar": "~",
        "majority": "",
        "bad": "!",
    }
    by_auc = {ranked.method: ranked.marks for ranked in rank_methods(comparison).methods}
    assert by_auc == {"good": "*", "similar": "~", "majority": "", "bad": "!"}
    assert list_worse_than_majority(comparison) == ["bad"]


def test_rank_methods_uses_paired_differences_with_holm_correction(tmp_path):
    comparison = write_comparison(tmp_path, {"good": GOOD, "bad": BAD, "similar": SIMILAR})
    ranking = rank_methods(comparison, "brier")
    p_values = {name: comparison.compare_pair("good", name, "brier").p_value for name in ("similar", "bad")}
    smaller, larger = sorted(p_values, key=p_values.get)
    found = {ranked.method: ranked.p_value for ranked in ranking.methods}
    assert found[smaller] == pytest.approx(2 * p_values[smaller])
    assert found[larger] == pytest.approx(max(p_values[larger], 2 * p_values[smaller]))
    assert found["good"] is None


def test_correct_p_values_never_decrease_and_are_at_most_one():
    generator = np.random.default_rng(0)
    for _ in range(20):
        given = dict(enumerate(generator.random(6) ** 3))
        corrected = correct_p_values(given)
        ordered = [corrected[key] for key in sorted(given, key=given.get)]
        assert ordered == sorted(ordered)
        assert all(given[key] <= corrected[key] <= 1 for key in given)
        smallest = min(given, key=given.get)
        assert corrected[smallest] == pytest.approx(min(1, 6 * given[smallest]))


def test_describe_ranking_names_the_best_its_rivals_and_how_certain_it_is(tmp_path):
    comparison = write_comparison(tmp_path / "tied", {"good": GOOD, "similar": GOOD, "majority": MAJORITY})
    sentence = describe_ranking(rank_methods(comparison))
    assert sentence.startswith("good has the highest AUC, 1.00; similar (1.00; difference 0.00, 95 % interval ")
    assert sentence.endswith("is not distinguishable from it on these 10 folds.")
    clear = write_comparison(tmp_path / "clear", {"good": GOOD, "bad": BAD, "majority": MAJORITY})
    sentence = describe_ranking(rank_methods(clear, "brier"))
    assert sentence.startswith("good has the lowest brier score, ")
    assert ", distinguishably better than that of the next, bad (" in sentence
    assert sentence.endswith(") on these 10 folds.")


def test_describe_ranking_states_that_no_method_beats_the_majority(tmp_path):
    comparison = write_comparison(tmp_path / "worse", {"bad": BAD, "majority": MAJORITY})
    sentence = describe_ranking(rank_methods(comparison))
    assert sentence.startswith("No method beats the majority: its AUC is 0.50, that of bad (")
    lucky = np.where(np.arange(40)[:, None] == 1, GOOD, MAJORITY)  # right in one more bag
    uncertain = write_comparison(tmp_path / "lucky", {"lucky": lucky, "majority": MAJORITY})
    sentence = describe_ranking(rank_methods(uncertain, "accuracy"))
    assert sentence.startswith("lucky has the highest accuracy, 0.5")
    assert sentence.endswith(". No method is distinguishably better than the majority.")


def test_rank_methods_puts_the_majority_before_methods_that_only_equal_it(tmp_path):
    comparison = write_comparison(tmp_path, {"equal": MAJORITY, "majority": MAJORITY})
    ranking = rank_methods(comparison)
    assert ranking.names == ["majority", "equal"]
    assert ranking.methods[1].beats_majority is False


def test_choose_metric_rejects_an_unknown_metric_before_anything_is_fitted(tmp_path):
    assert choose_metric(ClassTarget.unnamed(2)).name == "auc"
    plan = make_plan("needles", {"naive": {}}, options=OPTIONS, folds=2)
    with pytest.raises(InputError, match="metric 'acuracy' is unknown; did you mean 'accuracy'"):
        compare_methods(tmp_path / "one", plan, metric="acuracy")
    assert not (tmp_path / "one").exists()


def test_compare_methods_adds_the_majority_without_changing_other_results(tmp_path):
    plan = make_plan("needles", {"naive": {}, "extra trees": {}}, options=OPTIONS, folds=2)
    alone = compare_methods(tmp_path / "alone", plan)
    both = compare_methods(tmp_path / "both", plan, baselines=True)
    assert list(both.units) == ["naive", "extra trees", "majority"]
    for name, units in alone.units.items():
        for unit, other in zip(units, both.units[name], strict=True):
            assert {**unit, "seconds": None} == {**other, "seconds": None}


def test_make_score_rows_has_the_rank_in_columns_at_the_end(tmp_path):
    comparison = write_comparison(tmp_path, {"bad": BAD, "majority": MAJORITY, "good": GOOD})
    plain, rows = make_score_rows(comparison), make_score_rows(comparison, rank_methods(comparison))
    names = ["rank", "is_best", "is_distinguishable", "p_value_corrected", "beats_majority"]
    for before, after in zip(plain, rows, strict=True):
        assert list(after) == [*before, *names]
        assert (after["rank"] is None) == (after["metric"] != "auc")
    ranks = {row["method"]: row["rank"] for row in rows if row["metric"] == "auc"}
    assert ranks == {"good": 1, "majority": 2, "bad": 3}


def test_comparison_computes_metrics_that_earlier_versions_did_not_store(tmp_path):
    comparison = write_comparison(tmp_path, {"good": GOOD})
    expected = comparison.scores["good"]["balanced_accuracy"]
    for path in tmp_path.rglob("units/*/*.json"):
        unit = json.loads(path.read_text())
        del unit["metrics"]["bags"]["balanced_accuracy"]
        path.write_text(json.dumps(unit))
    assert Comparison(tmp_path).scores["good"]["balanced_accuracy"] == expected
