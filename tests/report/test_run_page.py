import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.report.page_templates import format_interval, format_number
from bagwise.report.run_page import render_report, write_report
from bagwise.report.summary import summarise_run
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run

QUICK = {"epochs": 1, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3}
SCRIPT = "<script>alert(1)</script>"
VOID = {"meta", "img", "br", "link", "input"}


class PageReader(HTMLParser):
    """Collects the elements of a page and checks that they are nested correctly."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open_tags = [], []
        self.feed(page)
        assert not self.open_tags

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def find_all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


def train(folder, bags, **parameters):
    save_bags(bags, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    return execute_run(folder / "run", {"data": data, "parameters": {**QUICK, **parameters}})


def make_bags(labels, **metadata):
    generator = np.random.default_rng(0)
    targets = np.unique(labels, return_inverse=True)[1]
    return Bags.from_list([generator.normal(target, 1, (5, 3)) for target in targets], labels, **metadata)


@pytest.fixture(scope="module")
def run(digits_run, tmp_path_factory):
    """A copy of the shared run, because the report is written into its folder."""
    return Run(shutil.copytree(digits_run.folder, tmp_path_factory.mktemp("page") / "run"))


@pytest.fixture(scope="module")
def page(run):
    return write_report(run).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """A page of three classes in which every name attempts to inject markup."""
    labels = np.array([f"{SCRIPT} $\\frac {letter}" for letter in "abc"] * 8)
    names = np.array([f'"><img src=x onerror=alert({number})>{SCRIPT}' for number in range(24)])
    run = train(tmp_path_factory.mktemp("hostile"), make_bags(labels, names=names))
    return render_report(summarise_run(run))


def test_render_report_loads_nothing_from_elsewhere(page, hostile_page):
    for text in (page, hostile_page):
        reader = PageReader(text)
        assert not re.search(r"https?://|@import|url\((?!#)", text)
        assert not reader.find_all("script", "link", "iframe", "object", "base")
        assert all(attributes["src"].startswith("data:image/") for attributes in reader.find_all("img"))
        references = [attributes["href"] for _, attributes in reader.elements if "href" in attributes]
        assert all(reference.startswith("#") for reference in references)
        policy = next(meta for meta in reader.find_all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
        assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_render_report_escapes_all_names(hostile_page):
    assert "<script" not in hostile_page
    assert "&lt;script&gt;" in hostile_page
    reader = PageReader(hostile_page)
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)
    figures = re.findall(r"<svg.*?</svg>", hostile_page, re.S)
    assert any("&lt;script" in figure for figure in figures)


def test_write_report_is_accessible(page):
    reader = PageReader(page)
    assert reader.find_all("html")[0]["lang"] == "en"
    assert {"header", "main", "nav", "footer"} <= {tag for tag, _ in reader.elements}
    assert all(attributes["alt"] for attributes in reader.find_all("img"))
    assert all(attributes["scope"] in ("row", "col") for attributes in reader.find_all("th"))
    assert len(reader.find_all("figure")) == len(reader.find_all("figcaption")) == len(reader.find_all("svg")) == 6
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    referenced = [attributes.get("aria-labelledby", "") for _, attributes in reader.elements]
    assert set(" ".join(referenced).split()) <= set(ids)


def test_write_report_does_not_skip_heading_levels(page):
    levels = [int(tag[1]) for tag, _ in PageReader(page).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_write_report_shows_the_numbers_of_the_run(run, page):
    for metric in run.metrics["bags"].values():
        assert f">{format_number(metric['value'])}<" in page
        assert format_interval(metric["interval"]) in page
    assert "the weights of a bag sum to one" in page
    assert "1,000 resamples" in page
    for group in summarise_run(run)["notable_bags"]:
        assert all(f"<h4>{bag['name']}</h4>" in page for bag in group["bags"])


def test_write_report_shows_the_screening_by_weight(page, tmp_path):
    save_bags(load_dataset("needles", n_bags=40), tmp_path / "bags")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    parameters = {"screen": ["extra trees", "MI-Kernel", "mi-SVM"], "budget": "2s"}
    run = execute_run(tmp_path / "run", {"data": data, "method": "auto", "parameters": parameters})
    text = write_report(run).read_text(encoding="utf-8")
    section = text[text.index('<section id="screening"') : text.index('<section id="setup"')]
    ordered = sorted(run.screening, key=lambda row: -row["weight"])
    assert re.findall(r'<th scope="row">(.+?)</th>', section) == [row["method"] for row in ordered]
    for row in ordered:
        assert all(f">{format_number(row[name])}<" in section for name in run.target.main_metrics)
    assert "fit into the budget of 2s" in section
    assert f'--screen "{",".join(row["method"] for row in run.screening)}"' in section
    assert '<a href="#screening">' in text
    assert "screening" not in page


def test_write_report_frames_key_instances_only(run, page):
    instances = [
        instance
        for group in summarise_run(run)["notable_bags"]
        for bag in group["bags"]
        for instance in bag["instances"]
    ]
    framed = [attributes for attributes in PageReader(page).find_all("li") if attributes.get("class") == "key"]
    assert len(framed) == sum(instance["key"] for instance in instances) > 0
    assert len(PageReader(page).find_all("img")) == len(instances)


def test_write_report_is_deterministic(run, page, tmp_path):
    other = write_report(Run(run.folder), tmp_path / "pages" / "other.html")
    assert other == tmp_path / "pages" / "other.html"
    assert other.read_bytes() == (run.folder / "report.html").read_bytes() == page.encode()


def test_write_report_of_test_bags_of_one_class_shows_undefined_values(tmp_path):
    bags = make_bags(np.repeat(["no", "yes"], 12))
    save_bags(bags, tmp_path / "bags")
    other = bags[bags.labels == "no"]
    save_bags(other.replace(instances=other.instances * 1.01), tmp_path / "only")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": str(tmp_path / "only"), "split_seed": 1}
    text = write_report(execute_run(tmp_path / "run", {"data": data, "parameters": QUICK})).read_text(encoding="utf-8")
    assert "all test bags are of one class" in text
    assert "no test bag is positive" in text
    assert ">n/a<" in text
    assert "nan" not in re.sub(r"base64,[^\"]*", "", text)
    assert len(PageReader(text).find_all("svg")) == 4


def test_write_report_warns_of_test_bags_that_are_training_bags_under_another_name(tmp_path):
    bags = make_bags(np.repeat(["no", "yes"], 12))
    save_bags(bags, tmp_path / "bags")
    copies = bags[[0, 1, 22, 23]]
    save_bags(copies.replace(names=None if copies.names is None else ["p", "q", "r", "s"]), tmp_path / "copies")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": str(tmp_path / "copies"), "split_seed": 1}
    with pytest.warns(UserWarning, match="fitted on 4 of these 4 bags"):
        run = execute_run(tmp_path / "run", {"data": data, "parameters": QUICK})
    assert run.metrics["seen_bags"] == 4
    text = write_report(run).read_text(encoding="utf-8")
    assert "the model was fitted on 4 of these 4 bags" in text


def test_write_report_states_that_the_data_are_missing(tmp_path):
    run = train(tmp_path, make_bags(np.repeat(["no", "yes"], 12), groups=np.arange(24) // 2))
    (tmp_path / "bags").rename(tmp_path / "gone")
    text = write_report(run).read_text(encoding="utf-8")
    assert "The data could not be opened" in text
    assert "whole groups at a time" in text
    assert not PageReader(text).find_all("img")


def test_write_report_with_photographs_is_smaller_than_two_megabytes(tmp_path):
    generator = np.random.default_rng(0)
    bags = [generator.integers(256, size=(14, 70, 70, 3), dtype=np.uint8) for _ in range(60)]
    run = train(tmp_path, Bags.from_list(bags, np.arange(60) % 2), encoder="mlp")
    assert write_report(run).stat().st_size < 2_000_000
    assert "data:image/jpeg" in (run.folder / "report.html").read_text(encoding="utf-8")


def test_write_report_rejects_an_unwritable_path_before_summarising(digits_run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("bagwise.report.run_page.summarise_run", None)
    with pytest.raises(InputError, match=r"report\.html"):
        write_report(digits_run, tmp_path / "file" / "report.html")
