import json
import subprocess
import sys

import numpy as np
import pytest

from bagwise.bags.folder import load_bags
from bagwise.data.sources import open_source
from bagwise.io.locking import hold_lock
from command_line import bagwise, read_error
from data.formats.foreign import clam_slide, features, grid, trident_slide, write_table


@pytest.fixture
def job(tmp_path):
    """Twelve slides of six cases by TRIDENT, and their labels."""
    rows = [["case_id", "slide_id", "label"]]
    for number in range(12):
        folder = trident_slide(tmp_path, f"s{number:02}", features(4, seed=number), grid(4))
        rows.append([f"p{number // 2}", f"s{number:02}.svs", "yes" if number % 4 < 2 else "no"])
    return folder, write_table(tmp_path / "labels.csv", rows)


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_import_packs_features_and_prints_a_summary(job, tmp_path):
    folder, labels = job
    result = bagwise("import", folder, "--labels", labels, "--out", tmp_path / "bags")
    assert result.returncode == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "features of TRIDENT, because it is named features_uni_v1" in text
    assert "slides found 12" in text
    assert "wrote 12 bags, 48 instances" in text
    assert f"next: bagwise train {tmp_path / 'bags'} runs/first" in text
    bags = load_bags(tmp_path / "bags")
    np.testing.assert_array_equal(bags[3], features(4, seed=3))
    assert bags.groups.tolist()[:3] == ["p0", "p0", "p1"]
    assert bags.extractor == "uni_v1"
    assert open_source(str(tmp_path / "bags")).training.labels.tolist()[:3] == ["yes", "yes", "no"]


def test_import_by_case_with_json_output(job, tmp_path):
    folder, labels = job
    (folder / "s03.h5").write_bytes(b"cut")
    out = tmp_path / "bags"
    arguments = ("import", folder, "--labels", labels, "--out", out, "--bag", "case", "--json")
    assert "s03.h5 is damaged" in read_error(bagwise(*arguments))
    assert not out.exists()
    result = bagwise(*arguments, "--skip-bad")
    output = json.loads(result.stdout)
    assert (output["tool"], output["bags"], output["instances"], list(output["bad"])) == ("TRIDENT", 6, 44, ["s03"])
    assert load_bags(out).names.tolist() == [f"p{number}" for number in range(6)]


def test_import_rejects_wrong_arguments_with_the_fix(job, tmp_path):
    folder, labels = job
    out = tmp_path / "bags"
    assert "is not a folder" in read_error(bagwise("import", tmp_path / "none", "--labels", labels, "--out", out))
    assert "--bag 'tile' is unknown" in read_error(
        bagwise("import", folder, "--labels", labels, "--out", out, "--bag", "tile")
    )
    assert "not a folder of bags" in read_error(bagwise("import", folder, "--labels", labels, "--out", folder))
    assert "workers is 0" in read_error(bagwise("import", folder, "--labels", labels, "--out", out, "--workers", "0"))
    nobody = bagwise("import", folder, "--labels", labels, "--out", out, "--scheduler", "tcp://here:1")
    assert "--scheduler needs --backend dask" in read_error(nobody)
    assert not out.exists()


def test_import_with_workers_or_shared_gives_the_same_bags(job, tmp_path):
    folder, labels = job
    (folder / "s03.h5").write_bytes(b"cut")
    words, outputs = ("import", folder, "--labels", labels, "--skip-bad", "--json"), []
    for name, flags in {"one": (), "two": ("--workers", "2"), "shared": ("--shared",)}.items():
        result = bagwise(*words, "--out", name, *flags, cwd=tmp_path)
        outputs.append({**json.loads(result.stdout), "out": ""})
        assert bytes_of(tmp_path / name) == bytes_of(tmp_path / "one")
    assert outputs[0].items() <= outputs[1].items()
    assert (outputs[1]["bad"], len(outputs[1]["done"])) == (outputs[0]["bad"], 11)
    assert outputs[1] == outputs[2]


def test_import_shared_prints_which_process_has_the_rest(job, tmp_path):
    folder, labels = job
    words = ("import", folder, "--labels", labels, "--out", "bags", "--shared")
    with hold_lock(tmp_path / "bags.parts" / "s05.lock"):
        result = bagwise(*words, cwd=tmp_path)
        assert result.returncode == 0
        assert "s05 is being processed by process" in result.stdout
        assert "nothing packed yet: run the same command again" in result.stdout
        assert list(json.loads(bagwise(*words, "--json", cwd=tmp_path).stdout)["elsewhere"]) == ["s05"]
    with hold_lock(tmp_path / ".bags.lock"):
        assert "another command is packing bags, or has packed it" in bagwise(*words, cwd=tmp_path).stdout
    assert "wrote 12 bags, 48 instances" in bagwise(*words, cwd=tmp_path).stdout
    assert "if other copies of this command packed them, nothing is left to do" in read_error(
        bagwise(*words, cwd=tmp_path)
    )
    assert "--shared cannot be combined with --overwrite" in read_error(bagwise(*words, "--overwrite", cwd=tmp_path))


def test_import_clam_takes_extractor_name_and_quiet_prints_nothing(tmp_path):
    folder = clam_slide(tmp_path, "s1", features(), grid())
    labels = write_table(tmp_path / "labels.csv", [["slide", "grade"], ["s1", "3"]])
    named = ("--label-column", "grade", "--extractor", "resnet50", "--quiet")
    result = bagwise("import", folder, "--labels", labels, "--out", tmp_path / "bags", *named)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert load_bags(tmp_path / "bags").extractor == "resnet50"


WIDE = [["slide_id", "tumor", "size", "a,b", "months", "died"]] + [
    [
        f"s{number:02}",
        str(number % 2),
        "" if number == 3 else str(number),
        "x",
        str(number + 0.5),
        "yes" if number % 3 else "no",
    ]
    for number in range(12)
]


@pytest.mark.parametrize(
    "options",
    [
        ("--label-column", "tumor,size"),
        ("--label-column", "tumor", "--label-column", "size", "--workers", "2"),
    ],
)
def test_import_writes_several_labels(job, tmp_path, options):
    labels = write_table(tmp_path / "wide.csv", WIDE)
    assert bagwise("import", job[0], "--labels", labels, "--out", tmp_path / "bags", *options).returncode == 0
    bags = load_bags(tmp_path / "bags")
    assert bags.label_names == ("tumor", "size")
    assert bags.labels[:3].tolist() == [[0, 0], [1, 1], [0, 2]]
    np.testing.assert_array_equal(bags.labels[3], [1, np.nan])


def test_import_writes_time_and_event_and_accepts_a_name_with_a_comma(job, tmp_path):
    labels = write_table(tmp_path / "wide.csv", WIDE)
    survival = ("--time-column", "months", "--event-column", "died")
    assert bagwise("import", job[0], "--labels", labels, "--out", tmp_path / "bags", *survival).returncode == 0
    assert load_bags(tmp_path / "bags").labels[:2].tolist() == [(False, 0.5), (True, 1.5)]
    named = ("--label-column", '["a,b"]')
    assert bagwise("import", job[0], "--labels", labels, "--out", tmp_path / "named", *named).returncode == 0
    assert load_bags(tmp_path / "named").labels.tolist() == ["x"] * 12
    only_time = bagwise("import", job[0], "--labels", labels, "--out", tmp_path / "other", *survival[:2])
    assert "name one of --event-column NAME" in read_error(only_time)
    assert not (tmp_path / "other").exists()


def test_import_uses_torch_for_tensor_files_only(job, tmp_path):
    folder, labels = job
    program = (
        "import sys; from bagwise.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    arguments = ["import", folder, "--labels", labels, "--out", tmp_path / "bags"]
    subprocess.run([sys.executable, "-c", program, *map(str, arguments)], check=True, capture_output=True)


def test_import_help_shows_an_example():
    assert "Example: bagwise import" in bagwise("import", "--help").stdout
