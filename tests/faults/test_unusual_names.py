"""Unicode, spaces, very long and Windows-reserved names: round trip through every command, report, viewer, GeoJSON."""

import contextlib
import csv
import io
import json
import shlex
import sys
from html.parser import HTMLParser
from unittest import mock

import httpx
import pytest

from bagwise.bags.folder import load_bags
from bagwise.viewer.session import Session, open_runs
from data.formats.foreign import clam_slide, features, grid
from unchecked import unchecked
from viewer.serving import served

NAMES = [
    "名前 ünï – σ",
    "e\u0301 in two letters",
    "é in one letter",
    "two  spaces",
    "x" * 250,
    "ж" * 125,  # 250 bytes; with its suffix the file's name is near the 255 that file systems allow
    "CON",
    "nul",
    "aux.txt",
    "ends with a dot.",
    "=1+1",
    "-rf",
    "<img src=x onerror=alert(1)>",
    "a,b;c\"d'e",
    "[red]bold",
    "100%2e%2e",
    "\u202egnp.exe",
    "tab\there",
    "~",
    "$HOME `id`",
    "#part?query=1&more",
]
LABELS = ("ja, „groß“", "=<u>no</u>")
PLACE = "ein Ordner – CON & 'Söhne' \"x\""
NETWORK = ("--epochs", "1", "--engine", "torch", "--seed", "1")


def group_of(name):
    return f"{name} ♥"[-200:]


def given(*words):
    """What a command says to standard output; it must end well."""
    from bagwise.cli.entry_point import main

    said, complaint = io.StringIO(), io.StringIO()
    typed = mock.patch.object(sys, "argv", ["bagwise", *map(str, words)])
    heard = contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint)
    with typed, unchecked(), heard[0], heard[1], pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, complaint.getvalue()
    return said.getvalue()


def table(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Features of slides with such names, and everything that the commands make of them."""
    folder = tmp_path_factory.mktemp("odd") / PLACE
    rows = [("case_id", "slide_id", "label")]
    for number, name in enumerate(NAMES):
        clam_slide(folder / "clam", name, features(4, 4, seed=number), grid(4))
        rows.append((group_of(name), name, LABELS[number % 2]))
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    given("import", folder / "clam" / "features", "--labels", folder / "labels.csv", "--out", folder / "bags")
    given("train", folder / "bags", folder / "run", "--test", "0.5", *NETWORK)
    methods = ("--methods", "attention,naive", "--folds", "2")
    given("compare", folder / "bags", *methods, "--out", folder / "comparison", *NETWORK)
    return folder


@pytest.fixture(scope="module")
def prediction_bags(place):
    """The run's test bags, a dictionary each."""
    return table(place / "run" / "predictions.csv")


def test_the_bags_have_the_names_labels_and_groups_of_the_files(place):
    bags = load_bags(place / "bags")
    labels = {name: LABELS[number % 2] for number, name in enumerate(NAMES)}
    assert sorted(bags.names) == sorted(NAMES)
    assert [labels[name] for name in bags.names] == bags.labels.tolist()
    assert [group_of(name) for name in bags.names] == bags.groups.tolist()


def test_predictions_weights_and_groups_have_them_too(place):
    given(
        *("predict", place / "run", place / "bags", "--out", place / "NUL.csv"),
        *("--weights", place / "weights, all.csv", "--groups", place / "=groups.csv"),
    )
    names = load_bags(place / "bags").names.tolist()
    rows = table(place / "NUL.csv")
    assert [row["bag"] for row in rows] == names
    assert [row["group"] for row in rows] == [group_of(name) for name in names]
    assert {row["predicted"] for row in rows} | {row["label"] for row in rows} <= set(LABELS)
    assert all(0 <= float(row[f"probability {label}"]) <= 1 for row in rows for label in LABELS)
    assert list(dict.fromkeys(row["bag"] for row in table(place / "weights, all.csv"))) == names
    assert {row["group"] for row in table(place / "=groups.csv")} == {group_of(name) for name in names}


def test_what_was_made_is_judged_and_checked(place, judged):
    assert json.loads(given("evaluate", place / "run", "--json"))["n_bags"] == len(judged)
    of_all = given("evaluate", place / "run", place / "bags", "--ungrouped", "--json")
    assert json.loads(of_all)["n_bags"] == len(NAMES)
    for folder in ("bags", "run", "comparison"):
        given("check", place / folder)


def test_every_test_bag_is_listed_and_explained_by_its_name(place, judged):
    said = given("explain", place / "run", "--out", place / "aux.csv")
    assert [row["bag"] for row in table(place / "aux.csv")] == [row["bag"] for row in judged]
    offered = shlex.split(said.splitlines()[-1].removeprefix("next: "))
    assert offered == ["bagwise", "explain", str(place / "run"), "--bag", judged[0]["bag"]]
    for row in judged:
        given("explain", place / "run", f"--bag={row['bag']}", "--out", place / "why")
        facts = json.loads((place / "why" / "explanation.json").read_text(encoding="utf-8"))
        tiles = json.loads((place / "why" / "tiles.geojson").read_text(encoding="utf-8"))
        assert (facts["bag"], facts["label"]) == (row["bag"], row["label"])
        assert {tile["properties"]["classification"]["name"] for tile in tiles["features"]} <= set(LABELS)


class Elements(HTMLParser):
    """The elements of a page, and its words."""

    def __init__(self, page):
        super().__init__()
        self.found, self.words = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("page", ["run/report.html", "comparison/comparison.html"])
def test_in_a_page_names_are_words_and_never_elements(place, page):
    parsed = Elements((place / page).read_text(encoding="utf-8"))
    assert not [tag for tag, _ in parsed.found if tag in ("script", "u", "iframe", "object")]
    assert not [name for _, given in parsed.found for name in given if name.startswith("on")]
    assert not [given for tag, given in parsed.found if tag == "img" and not given["src"].startswith("data:")]


def test_the_viewer_gives_them_as_they_are(place, judged):
    with served(Session(open_runs(place / "run"))) as address, httpx.Client(base_url=address, timeout=60) as client:
        shown = client.get("/api/runs/0/bags").json()
        assert [bag["name"] for bag in shown] == [row["bag"] for row in judged]
        for number, row in enumerate(judged):
            saved = client.get(f"/api/runs/0/bags/{number}/export/csv")
            assert saved.headers["Content-Disposition"].isascii()
            assert len(saved.headers["Content-Disposition"]) < 200
            (name,) = {line["bag"] for line in csv.DictReader(io.StringIO(saved.text))}
            assert name.removeprefix("'") == row["bag"]  # an apostrophe keeps a spreadsheet from computing it
