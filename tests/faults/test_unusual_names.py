"""Unicode names, spaces, very long names and Windows-reserved names are preserved in all outputs."""

import csv
import io
import json
import shlex
from html.parser import HTMLParser

import httpx
import pytest

from bagwise.bags.folder import load_bags
from bagwise.viewer.session import Session, open_runs
from command_line import bagwise
from data.formats.foreign import clam_slide, features, grid
from viewer.serving import served

NAMES = [
    "名前 ünï – σ",
    "e\u0301 in two letters",
    "é in one letter",
    "two  spaces",
    "x" * 250,
    "ж" * 125,  # 250 bytes; with its suffix, the file name is near the limit of 255 bytes
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
FOLDER = "ein Ordner – CON & 'Söhne' \"x\""
NETWORK = ("--epochs", "1", "--engine", "torch", "--seed", "1")


def group_of(name):
    return f"{name} ♥"[-200:]


def run_command(*arguments):
    """Run a command that must succeed; return its standard output."""
    result = bagwise(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def read_table(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with features of slides with such names, and the bags, run and comparison made from them."""
    folder = tmp_path_factory.mktemp("odd") / FOLDER
    rows = [("case_id", "slide_id", "label")]
    for number, name in enumerate(NAMES):
        clam_slide(folder / "clam", name, features(4, 4, seed=number), grid(4))
        rows.append((group_of(name), name, LABELS[number % 2]))
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    run_command("import", folder / "clam" / "features", "--labels", folder / "labels.csv", "--out", folder / "bags")
    run_command("train", folder / "bags", folder / "run", "--test", "0.5", *NETWORK)
    methods = ("--methods", "attention,naive", "--folds", "2")
    run_command("compare", folder / "bags", *methods, "--out", folder / "comparison", *NETWORK)
    return folder


@pytest.fixture(scope="module")
def predictions(folder):
    """Return the predictions of the run, one dictionary per test bag."""
    return read_table(folder / "run" / "predictions.csv")


def test_import_preserves_names_labels_and_groups(folder):
    bags = load_bags(folder / "bags")
    labels = {name: LABELS[number % 2] for number, name in enumerate(NAMES)}
    assert sorted(bags.names) == sorted(NAMES)
    assert [labels[name] for name in bags.names] == bags.labels.tolist()
    assert [group_of(name) for name in bags.names] == bags.groups.tolist()


def test_predict_preserves_names_labels_and_groups_in_all_tables(folder):
    run_command(
        *("predict", folder / "run", folder / "bags", "--out", folder / "NUL.csv"),
        *("--weights", folder / "weights, all.csv", "--groups", folder / "=groups.csv"),
    )
    names = load_bags(folder / "bags").names.tolist()
    rows = read_table(folder / "NUL.csv")
    assert [row["bag"] for row in rows] == names
    assert [row["group"] for row in rows] == [group_of(name) for name in names]
    assert {row["predicted"] for row in rows} | {row["label"] for row in rows} <= set(LABELS)
    assert all(0 <= float(row[f"probability {label}"]) <= 1 for row in rows for label in LABELS)
    assert list(dict.fromkeys(row["bag"] for row in read_table(folder / "weights, all.csv"))) == names
    assert {row["group"] for row in read_table(folder / "=groups.csv")} == {group_of(name) for name in names}


def test_evaluate_and_check_accept_unusual_names(folder, predictions):
    assert json.loads(run_command("evaluate", folder / "run", "--json"))["n_bags"] == len(predictions)
    evaluation = run_command("evaluate", folder / "run", folder / "bags", "--ungrouped", "--json")
    assert json.loads(evaluation)["n_bags"] == len(NAMES)
    for name in ("bags", "run", "comparison"):
        run_command("check", folder / name)


def test_explain_lists_and_explains_every_test_bag_by_its_name(folder, predictions):
    output = run_command("explain", folder / "run", "--out", folder / "aux.csv")
    assert [row["bag"] for row in read_table(folder / "aux.csv")] == [row["bag"] for row in predictions]
    suggested = shlex.split(output.splitlines()[-1].removeprefix("next: "))
    assert suggested == ["bagwise", "explain", str(folder / "run"), "--bag", predictions[0]["bag"]]
    for row in predictions:
        run_command("explain", folder / "run", f"--bag={row['bag']}", "--out", folder / "explanation")
        facts = json.loads((folder / "explanation" / "explanation.json").read_text(encoding="utf-8"))
        tiles = json.loads((folder / "explanation" / "tiles.geojson").read_text(encoding="utf-8"))
        assert (facts["bag"], facts["label"]) == (row["bag"], row["label"])
        assert {tile["properties"]["classification"]["name"] for tile in tiles["features"]} <= set(LABELS)


class Elements(HTMLParser):
    """Parser that collects the elements of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


@pytest.mark.parametrize("page", ["run/report.html", "comparison/comparison.html"])
def test_pages_escape_names_so_that_none_becomes_an_element(folder, page):
    parsed = Elements((folder / page).read_text(encoding="utf-8"))
    assert not [tag for tag, _ in parsed.found if tag in ("script", "u", "iframe", "object")]
    assert not [name for _, attributes in parsed.found for name in attributes if name.startswith("on")]
    assert not [
        attributes for tag, attributes in parsed.found if tag == "img" and not attributes["src"].startswith("data:")
    ]


def test_viewer_preserves_names_in_lists_and_exported_tables(folder, predictions):
    with served(Session(open_runs(folder / "run"))) as address, httpx.Client(base_url=address, timeout=60) as client:
        bags = client.get("/api/runs/0/bags").json()
        assert [bag["name"] for bag in bags] == [row["bag"] for row in predictions]
        for number, row in enumerate(predictions):
            exported = client.get(f"/api/runs/0/bags/{number}/export/csv")
            assert exported.headers["Content-Disposition"].isascii()
            assert len(exported.headers["Content-Disposition"]) < 200
            (name,) = {line["bag"] for line in csv.DictReader(io.StringIO(exported.text))}
            assert name.removeprefix("'") == row["bag"]  # an apostrophe prevents evaluation as a formula
