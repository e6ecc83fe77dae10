"""The page stands alone, escapes every name, and comes out the same whatever the run lacks."""

import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.report import render, write_report
from bagwise.report.words import interval, number
from bagwise.runs import Run, execute
from bagwise.storage import save_bags
from bagwise.summary import summarise

QUICK = {"epochs": 1, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3}
SCRIPT = "<script>alert(1)</script>"
VOID = {"meta", "img", "br", "link", "input"}


class Reader(HTMLParser):
    """Collects elements and checks that each is closed where it was opened."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def every(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


def trained(folder, bags, **parameters):
    save_bags(bags, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    return execute(folder / "run", {"data": data, "parameters": {**QUICK, **parameters}})


def made_up(labels, **companions):
    generator = np.random.default_rng(0)
    numbers = np.unique(labels, return_inverse=True)[1]
    return Bags.from_list([generator.normal(place, 1, (5, 3)) for place in numbers], labels, **companions)


@pytest.fixture(scope="module")
def run(digits_run, tmp_path_factory):
    """A copy of the shared run, because its report is written into its folder."""
    return Run(shutil.copytree(digits_run.folder, tmp_path_factory.mktemp("page") / "run"))


@pytest.fixture(scope="module")
def page(run):
    return write_report(run).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page of three classes whose every name is an attack."""
    labels = np.array([f"{SCRIPT} $\\frac {letter}" for letter in "abc"] * 8)
    names = np.array([f'"><img src=x onerror=alert({number})>{SCRIPT}' for number in range(24)])
    run = trained(tmp_path_factory.mktemp("hostile"), made_up(labels, names=names))
    return render(summarise(run))


def test_the_page_asks_for_nothing_from_elsewhere(page, hostile):
    for text in (page, hostile):
        reader = Reader(text)
        assert not re.search(r"https?://|@import|url\((?!#)", text)
        assert not reader.every("script", "link", "iframe", "object", "base")
        assert all(attributes["src"].startswith("data:image/") for attributes in reader.every("img"))
        references = [attributes["href"] for _, attributes in reader.elements if "href" in attributes]
        assert all(reference.startswith("#") for reference in references)
        policy = next(meta for meta in reader.every("meta") if meta.get("http-equiv") == "Content-Security-Policy")
        assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_names_are_escaped_everywhere(hostile):
    assert "<script" not in hostile
    assert "&lt;script&gt;" in hostile
    reader = Reader(hostile)
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)
    figures = re.findall(r"<svg.*?</svg>", hostile, re.S)
    assert any("&lt;script" in figure for figure in figures)


def test_every_element_has_its_words(page):
    reader = Reader(page)
    assert reader.every("html")[0]["lang"] == "en"
    assert {"header", "main", "nav", "footer"} <= {tag for tag, _ in reader.elements}
    assert all(attributes["alt"] for attributes in reader.every("img"))
    assert all(attributes["scope"] in ("row", "col") for attributes in reader.every("th"))
    assert len(reader.every("figure")) == len(reader.every("figcaption")) == len(reader.every("svg")) == 6
    identities = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    labelled = " ".join(found["aria-labelledby"] for _, found in reader.elements if "aria-labelledby" in found)
    assert set(labelled.split()) <= set(identities)


def test_headings_go_down_one_step_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in Reader(page).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_says_the_numbers_of_the_run(run, page):
    for metric in run.metrics["bags"].values():
        assert f">{number(metric['value'])}<" in page
        assert interval(metric["interval"]) in page
    assert "within a bag weights sum to one" in page
    assert "1,000 draws" in page
    for group in summarise(run)["telling_bags"]:
        assert all(f"<h4>{bag['name']}</h4>" in page for bag in group["bags"])


def test_key_instances_are_framed_and_only_they(run, page):
    shown = [
        instance for group in summarise(run)["telling_bags"] for bag in group["bags"] for instance in bag["instances"]
    ]
    framed = [attributes.get("class") == "key" for attributes in Reader(page).every("li") if attributes.get("class")]
    assert len(framed) == sum(instance["key"] for instance in shown) > 0
    assert len(Reader(page).every("img")) == len(shown)


def test_the_same_run_gives_the_same_bytes(run, page, tmp_path):
    other = write_report(Run(run.folder), tmp_path / "pages" / "other.html")
    assert other == tmp_path / "pages" / "other.html"
    assert other.read_bytes() == (run.folder / "report.html").read_bytes() == page.encode()


def test_test_bags_of_one_class_leave_gaps_not_errors(tmp_path):
    bags = made_up(np.repeat(["no", "yes"], 12))
    save_bags(bags, tmp_path / "bags")
    save_bags(bags[bags.labels == "no"], tmp_path / "only")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": str(tmp_path / "only"), "split_seed": 1}
    text = write_report(execute(tmp_path / "run", {"data": data, "parameters": QUICK})).read_text(encoding="utf-8")
    assert "all test bags are of one class" in text
    assert "no test bag is positive" in text
    assert ">n/a<" in text
    assert "nan" not in re.sub(r"base64,[^\"]*", "", text)
    assert len(Reader(text).every("svg")) == 4


def test_without_the_data_the_page_says_so(tmp_path):
    run = trained(tmp_path, made_up(np.repeat(["no", "yes"], 12), groups=np.arange(24) // 2))
    (tmp_path / "bags").rename(tmp_path / "gone")
    text = write_report(run).read_text(encoding="utf-8")
    assert "The data could not be opened again" in text
    assert "whole groups at a time" in text
    assert not Reader(text).every("img")


def test_photographs_of_many_bags_stay_below_two_megabytes(tmp_path):
    generator = np.random.default_rng(0)
    bags = [generator.integers(256, size=(14, 70, 70, 3), dtype=np.uint8) for _ in range(60)]
    run = trained(tmp_path, Bags.from_list(bags, np.arange(60) % 2), encoder="mlp")
    assert write_report(run).stat().st_size < 2_000_000
    assert "data:image/jpeg" in (run.folder / "report.html").read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_drawn(digits_run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("bagwise.report.page.summarise", None)
    with pytest.raises(InputError, match="is, or lies in, a file"):
        write_report(digits_run, tmp_path / "file" / "report.html")
