import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from bagwise.bags.folder import load_bags
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.feature_folders import FeatureFolder, SlideFeatures
from bagwise.data.formats.feature_import import SlideReader, import_features
from bagwise.data.formats.slide_labels import SlideLabel
from bagwise.errors import InputError
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide

LABELS = {"s1": SlideLabel(1, "p1"), "s2": SlideLabel(1, "p1"), "s3": SlideLabel(0, "p2")}


def write_slides(tmp_path, write=trident_slide):
    for number, slide in enumerate(LABELS):
        positions = grid(3 + number) + (128 if write is slideflow_slide else 0)  # centres of tiles of 256 pixels
        folder = write(tmp_path / "tool", slide, features(3 + number, seed=number), positions)
    return folder


@pytest.mark.parametrize(
    ("write", "extractor"),
    [(clam_slide, "mine"), (trident_slide, "uni_v1"), (stamp_slide, "ctranspath"), (slideflow_slide, "RetCCLFeatures")],
)
def test_import_features_converts_the_folder_of_every_tool(tmp_path, write, extractor):
    found = open_feature_folder(write_slides(tmp_path, write), mpp=0.5).features
    given = "mine" if write is clam_slide else None
    report = import_features(found, LABELS, tmp_path / "bags", extractor=given)
    bags = load_bags(tmp_path / "bags")
    np.testing.assert_array_equal(bags.instances, np.concatenate([features(3 + n, seed=n) for n in range(3)]))
    assert bags.names.tolist() == ["s1", "s2", "s3"]
    assert bags.labels.tolist() == [1, 1, 0]
    assert bags.groups.tolist() == ["p1", "p1", "p2"]
    assert bags.tile_sizes.tolist() == [{slideflow_slide: 256}.get(write, 512)] * 3
    assert bags.extractor == report.extractor == extractor
    assert (report.slides_found, report.bags, report.instances) == (3, 3, 12)
    np.testing.assert_array_equal(bags.positions[:3], grid(3) * (2 if write is stamp_slide else 1))


def test_import_features_by_case_concatenates_slides_without_positions(tmp_path):
    found = open_feature_folder(write_slides(tmp_path)).features
    report = import_features(found, LABELS, tmp_path / "bags", by_case=True)
    bags = load_bags(tmp_path / "bags")
    assert bags.names.tolist() == bags.groups.tolist() == ["p1", "p2"]
    assert bags.sizes.tolist() == [7, 5]
    assert bags.positions is None
    assert report.bags == 2
    with pytest.raises(InputError, match=r"case 'p1' have different labels: 1 \('s1'\) and 0 \('s2'\).*--bag slide"):
        import_features(found, {**LABELS, "s2": SlideLabel(0, "p1")}, tmp_path / "b", by_case=True)
    with pytest.raises(InputError, match=r"--bag case requires the case of each slide.*--case-column"):
        import_features(found, {slide: SlideLabel(1, None) for slide in LABELS}, tmp_path / "b", by_case=True)


def test_import_features_lists_slides_without_label_and_labels_without_features(tmp_path):
    folder = write_slides(tmp_path)
    trident_slide(tmp_path / "tool", "s0", features(0), grid(0))
    found = open_feature_folder(folder).features
    labels = {"s0": SlideLabel(1, "p0"), "s1": SlideLabel(1, "p1"), "s9": SlideLabel(0, "p9")}
    message = "in the labels differ: without a label: s2, s3; without features: s9; .*--skip-bad"
    with pytest.raises(InputError, match=message):
        import_features(found, labels, tmp_path / "bags")
    assert not (tmp_path / "bags").exists()
    report = import_features(found, labels, tmp_path / "bags", skip_bad=True)
    assert report.without_label == ["s2", "s3"]
    assert report.without_features == ["s9"]
    assert report.empty == ["s0"]
    assert load_bags(tmp_path / "bags").names.tolist() == ["s1"]
    with pytest.raises(
        InputError, match=r"has a label: the folder has s0, s1, s2, s3, the labels have x; .*--slide-column"
    ):
        import_features(found, {"x": SlideLabel(0, None)}, tmp_path / "b")
    with pytest.raises(InputError, match="no slide can be imported: all slides are empty: s0"):
        import_features(found, {"s0": SlideLabel(0, None)}, tmp_path / "b", skip_bad=True)


def test_import_features_stops_at_a_bad_slide_without_writing_or_skips_it(tmp_path):
    folder = write_slides(tmp_path)
    content = (folder / "s2.h5").read_bytes()
    (folder / "s2.h5").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"s2\.h5 is damaged.*--skip-bad"):
        import_features(open_feature_folder(folder).features, LABELS, tmp_path / "bags")
    assert [path.name for path in tmp_path.iterdir()] == ["tool"]
    report = import_features(open_feature_folder(folder).features, LABELS, tmp_path / "bags", skip_bad=True)
    assert load_bags(tmp_path / "bags").names.tolist() == ["s1", "s3"]
    assert "s2.h5 is damaged" in report.bad["s2"]


def test_import_features_replaces_only_bags_and_only_with_overwrite(tmp_path):
    folder = write_slides(tmp_path)
    found = open_feature_folder(folder).features
    with pytest.raises(InputError, match="exists and is not a folder of bags"):
        import_features(found, LABELS, folder, overwrite=True)
    import_features(found, LABELS, tmp_path / "bags")
    with pytest.raises(InputError, match="already contains bags; replace them with --overwrite"):
        import_features(found, LABELS, tmp_path / "bags")
    import_features(found, {"s1": SlideLabel(1, "p1")}, tmp_path / "bags", overwrite=True, skip_bad=True)
    assert len(load_bags(tmp_path / "bags")) == 1


IMPORT_WITH_LIMITED_MEMORY = """
import resource, sys
from pathlib import Path
import numpy as np
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.feature_import import import_features
from bagwise.data.formats.slide_labels import SlideLabel

found, slide_bytes = open_feature_folder(sys.argv[1]).features, int(sys.argv[3])
labels = {slide: SlideLabel(0, None) for slide in found.slides()}
first = dict([*labels.items()][:2])
import_features(found, first, sys.argv[2] + " of two", skip_bad=True)  # loads all modules

status = Path("/proc/self/status").read_text().splitlines()
used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
resource.setrlimit(resource.RLIMIT_DATA, (used + 40 * slide_bytes, resource.RLIM_INFINITY))
print(import_features(found, labels, sys.argv[2]).instances)
try:
    held = [np.ones(slide_bytes, np.uint8) for _ in labels]
except MemoryError:
    print("the limit holds")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA covers all allocations on Linux only")
def test_import_features_of_two_hundred_slides_runs_in_the_memory_of_forty(tmp_path):
    folder = tmp_path / "features_mine"
    folder.mkdir()
    rows = features(2000, 64)
    with h5py.File(folder / "s000.h5", "w") as file:
        file["features"] = rows
    for number in range(1, 200):
        os.link(folder / "s000.h5", folder / f"s{number:03}.h5")
    arguments = [str(folder), str(tmp_path / "bags"), str(rows.nbytes)]
    result = subprocess.run(
        [sys.executable, "-c", IMPORT_WITH_LIMITED_MEMORY, *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["400000", "the limit holds"]


FIRST = SlideFeatures(np.ones((2, 3), dtype=np.float32), np.zeros((2, 2)), 256, "uni")


class GivenSlides(FeatureFolder):
    """A feature folder whose slides are in memory."""

    tool = "test"

    def __init__(self, **slides):
        super().__init__(Path("folder"))
        self.given = slides

    @classmethod
    def recognise(cls, folder):
        return None

    def slides(self):
        return sorted(self.given)

    def read(self, slide):
        return self.given[slide]

    def sources(self, slide):
        return []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extractor": "virchow"}, "slide 'b' has features of virchow, not of uni"),
        ({"extractor": None}, r"slides 'a' and 'b' do not agree \(extractor name: yes and no\)"),
        ({"features": np.ones((2, 4), dtype=np.float32)}, r"'a' and 'b' do not agree \(features per tile: 3 and 4\)"),
        ({"features": np.ones((2, 3), dtype=np.float16)}, r"do not agree \(feature dtype: float32 and float16\)"),
        (
            {"features": np.full((2, 3), np.nan, dtype=np.float32)},
            "slide 'b' has 6 NaN or infinite features, first in row 0",
        ),
        ({"positions": None}, r"do not agree \(positions: yes and no\)"),
        ({"tile_size": None}, r"do not agree \(tile size: yes and no\)"),
    ],
)
def test_slide_reader_rejects_or_records_a_slide_unlike_the_first(changes, message):
    folder = GivenSlides(a=FIRST, b=FIRST._replace(**changes), c=FIRST)
    strict = SlideReader(folder.read)
    strict.read("a")
    with pytest.raises(InputError, match=f"{message}.*--skip-bad"):
        strict.read("b")
    tolerant = SlideReader(folder.read, skip_bad=True)
    assert [tolerant.read(name) is not None for name in "abc"] == [True, False, True]
    assert list(tolerant.bad) == ["b"]
    assert tolerant.extractor == "uni"


def test_slide_reader_compares_with_the_first_slide_that_is_neither_empty_nor_bad():
    empty = FIRST._replace(features=np.empty((0, 3)))
    bad = FIRST._replace(features=np.full((1, 9), np.inf), extractor="other")
    reader = SlideReader(GivenSlides(a=empty, b=bad, c=FIRST).read, skip_bad=True)
    assert [reader.read(name) is not None for name in "abc"] == [False, False, True]
    assert (reader.empty, list(reader.bad), reader.extractor) == (["a"], ["b"], "uni")
