import shutil

import pytest

from bagwise.data.formats.detection import open_feature_folder
from bagwise.errors import InputError
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide


@pytest.mark.parametrize(
    ("write", "tool", "reason"),
    [
        (clam_slide, "CLAM", "it has the folder h5_files"),
        (trident_slide, "TRIDENT", "it is named features_uni_v1"),
        (stamp_slide, "STAMP", "s1.h5 has the data set feats"),
        (slideflow_slide, "slideflow", "it has bags_config.json"),
    ],
)
def test_open_feature_folder_detects_the_tool_and_gives_the_reason(tmp_path, write, tool, reason):
    found = open_feature_folder(write(tmp_path, "s1", features(), grid()))
    assert (found.features.tool, found.reason) == (tool, reason)
    assert found.features.slides() == ["s1"]


def test_open_feature_folder_detects_trident_by_the_encoder_attribute_despite_damaged_files(tmp_path):
    shutil.copytree(trident_slide(tmp_path, "s1", features(), grid()), tmp_path / "mine")
    (tmp_path / "mine" / "a damaged one.h5").write_text("no")
    found = open_feature_folder(tmp_path / "mine")
    assert (found.features.tool, found.reason) == ("TRIDENT", "the features of s1.h5 have the attribute encoder")


def test_open_feature_folder_reports_both_tools_of_an_ambiguous_folder(tmp_path):
    stamp_slide(tmp_path / "mixed", "s1", features(), grid())
    slideflow_slide(tmp_path / "mixed", "s2", features(), grid())
    message = r"mixed could be a folder of STAMP \(.*\) and slideflow \(.*\); .*--tool stamp or --tool slideflow"
    with pytest.raises(InputError, match=message):
        open_feature_folder(tmp_path / "mixed")
    assert open_feature_folder(tmp_path / "mixed", tool="Stamp").features.slides() == ["s1"]


def test_open_feature_folder_rejects_other_folders_and_bad_arguments(tmp_path):
    with pytest.raises(InputError, match="not a folder of features of CLAM, TRIDENT, STAMP or slideflow"):
        open_feature_folder(tmp_path)
    with pytest.raises(InputError, match="tool 'clamm' is unknown; did you mean 'clam'"):
        open_feature_folder(tmp_path, tool="clamm")
    with pytest.raises(InputError, match="none is not a folder; check the path"):
        open_feature_folder(tmp_path / "none")
    with pytest.raises(InputError, match=r"mpp must be .* micrometres per pixel, got -1; .*--mpp 0\.25"):
        open_feature_folder(tmp_path, tool="stamp", mpp=-1.0)
    with pytest.raises(InputError, match="none is not a folder; check --patches"):
        open_feature_folder(tmp_path, tool="clam", patches=tmp_path / "none")
