import os
import tracemalloc

import h5py
import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.features import open_features
from bagwise.formats.importing import import_features
from bagwise.formats.labels import Label
from bagwise.storage import load_bags
from formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide

LABELS = {"s1": Label(1, "p1"), "s2": Label(1, "p1"), "s3": Label(0, "p2")}


def folder_of(tmp_path, write=trident_slide):
    for number, slide in enumerate(LABELS):
        positions = grid(3 + number) + (128 if write is slideflow_slide else 0)  # centres of tiles of 256 pixels
        folder = write(tmp_path / "tool", slide, features(3 + number, seed=number), positions)
    return folder


@pytest.mark.parametrize(
    ("write", "extractor"),
    [(clam_slide, "mine"), (trident_slide, "uni_v1"), (stamp_slide, "ctranspath"), (slideflow_slide, "RetCCLFeatures")],
)
def test_every_tools_folder_becomes_the_same_bags(tmp_path, write, extractor):
    found = open_features(folder_of(tmp_path, write), mpp=0.5).features
    named = "mine" if write is clam_slide else None
    report = import_features(found, LABELS, tmp_path / "bags", extractor=named)
    bags = load_bags(tmp_path / "bags")
    np.testing.assert_array_equal(bags.instances, np.concatenate([features(3 + n, seed=n) for n in range(3)]))
    assert bags.names.tolist() == ["s1", "s2", "s3"]
    assert bags.labels.tolist() == [1, 1, 0]
    assert bags.groups.tolist() == ["p1", "p1", "p2"]
    assert bags.tile_sizes.tolist() == [{slideflow_slide: 256}.get(write, 512)] * 3
    assert bags.extractor == report.extractor == extractor
    assert (report.slides_found, report.bags, report.instances) == (3, 3, 12)
    np.testing.assert_array_equal(bags.positions[:3], grid(3) * (2 if write is stamp_slide else 1))


def test_slides_of_a_case_become_one_bag_without_positions(tmp_path):
    report = import_features(open_features(folder_of(tmp_path)).features, LABELS, tmp_path / "bags", by_case=True)
    bags = load_bags(tmp_path / "bags")
    assert bags.names.tolist() == bags.groups.tolist() == ["p1", "p2"]
    assert bags.sizes.tolist() == [7, 5]
    assert bags.positions is None
    assert report.bags == 2
    with pytest.raises(InputError, match="slides of case 'p1' have different labels"):
        import_features(
            open_features(folder_of(tmp_path)).features, {**LABELS, "s2": Label(0, "p1")}, tmp_path / "b", by_case=True
        )
    with pytest.raises(InputError, match="--bag case needs the case of each slide"):
        import_features(
            open_features(folder_of(tmp_path)).features,
            {slide: Label(1, None) for slide in LABELS},
            tmp_path / "b",
            by_case=True,
        )


def test_slides_and_labels_that_do_not_meet_are_listed(tmp_path):
    folder = folder_of(tmp_path)
    trident_slide(tmp_path / "tool", "s0", features(0), grid(0))
    labels = {"s0": Label(1, "p0"), "s1": Label(1, "p1"), "s9": Label(0, "p9")}
    refusal = "name different slides: without a label: s2, s3; without features: s9; .*--skip-bad"
    with pytest.raises(InputError, match=refusal):
        import_features(open_features(folder).features, labels, tmp_path / "bags")
    assert not (tmp_path / "bags").exists()
    report = import_features(open_features(folder).features, labels, tmp_path / "bags", skip_bad=True)
    assert report.without_label == ["s2", "s3"]
    assert report.without_features == ["s9"]
    assert report.empty == ["s0"]
    assert load_bags(tmp_path / "bags").names.tolist() == ["s1"]
    with pytest.raises(InputError, match=r"no slide of .* has a label: it has s0, s1, s2, s3, the labels name x"):
        import_features(open_features(folder).features, {"x": Label(0, None)}, tmp_path / "b")
    with pytest.raises(InputError, match="gives no bags: all are empty: s0"):
        import_features(open_features(folder).features, {"s0": Label(0, None)}, tmp_path / "b", skip_bad=True)


def test_the_first_bad_slide_ends_the_import_and_nothing_is_half_written(tmp_path):
    folder = folder_of(tmp_path)
    content = (folder / "s2.h5").read_bytes()
    (folder / "s2.h5").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"s2\.h5 is damaged.*--skip-bad"):
        import_features(open_features(folder).features, LABELS, tmp_path / "bags")
    assert [path.name for path in tmp_path.iterdir()] == ["tool"]
    report = import_features(open_features(folder).features, LABELS, tmp_path / "bags", skip_bad=True)
    assert load_bags(tmp_path / "bags").names.tolist() == ["s1", "s3"]
    assert "s2.h5 is damaged" in report.bad["s2"]


def test_only_bags_are_replaced_and_only_when_asked_for(tmp_path):
    folder = folder_of(tmp_path)
    found = open_features(folder).features
    with pytest.raises(InputError, match="exists and is not a folder of bags"):
        import_features(found, LABELS, folder, overwrite=True)
    import_features(found, LABELS, tmp_path / "bags")
    with pytest.raises(InputError, match="holds bags already; add --overwrite"):
        import_features(found, LABELS, tmp_path / "bags")
    import_features(found, {"s1": Label(1, "p1")}, tmp_path / "bags", overwrite=True, skip_bad=True)
    assert len(load_bags(tmp_path / "bags")) == 1


def test_two_hundred_slides_need_the_memory_of_a_few(tmp_path):
    folder = tmp_path / "features_mine"
    folder.mkdir()
    rows = features(2000, 64)
    with h5py.File(folder / "s000.h5", "w") as file:
        file["features"] = rows
    for number in range(1, 200):
        os.link(folder / "s000.h5", folder / f"s{number:03}.h5")
    labels = {f"s{number:03}": Label(number % 2, None) for number in range(200)}
    found = open_features(folder).features
    tracemalloc.start()
    try:
        report = import_features(found, labels, tmp_path / "bags")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.instances == 400_000
    assert peak < 10 * rows.nbytes, f"{peak / rows.nbytes:.1f} slides lay in memory"
