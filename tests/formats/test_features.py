import shutil

import pytest

from bagwise.errors import InputError
from bagwise.formats.features import open_features
from formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide


@pytest.mark.parametrize(
    ("write", "tool", "reason"),
    [
        (clam_slide, "CLAM", "it has the folder h5_files"),
        (trident_slide, "TRIDENT", "it is named features_uni_v1"),
        (stamp_slide, "STAMP", "s1.h5 has the data set feats"),
        (slideflow_slide, "slideflow", "it has bags_config.json"),
    ],
)
def test_the_tool_is_found_out_and_why_is_said(tmp_path, write, tool, reason):
    found = open_features(write(tmp_path, "s1", features(), grid()))
    assert (found.features.tool, found.reason) == (tool, reason)
    assert found.features.slides() == ["s1"]


def test_tridents_files_under_another_name_tell_by_their_encoder(tmp_path):
    shutil.copytree(trident_slide(tmp_path, "s1", features(), grid()), tmp_path / "mine")
    (tmp_path / "mine" / "a damaged one.h5").write_text("no")
    found = open_features(tmp_path / "mine")
    assert (found.features.tool, found.reason) == ("TRIDENT", "the features of s1.h5 have the attribute encoder")


def test_two_answers_are_an_error_that_names_both(tmp_path):
    stamp_slide(tmp_path / "mixed", "s1", features(), grid())
    slideflow_slide(tmp_path / "mixed", "s2", features(), grid())
    with pytest.raises(
        InputError, match=r"looks like STAMP's \(.*\), and slideflow's \(.*\); say whose it is with --tool"
    ):
        open_features(tmp_path / "mixed")
    assert open_features(tmp_path / "mixed", tool="Stamp").features.slides() == ["s1"]


def test_what_is_no_folder_of_features_is_told(tmp_path):
    with pytest.raises(InputError, match="not a folder of features of CLAM, TRIDENT, STAMP or slideflow"):
        open_features(tmp_path)
    with pytest.raises(InputError, match="tool 'clamm' is unknown; did you mean 'clam'"):
        open_features(tmp_path, tool="clamm")
    with pytest.raises(InputError, match="is not a folder; check the path"):
        open_features(tmp_path / "none")
    with pytest.raises(InputError, match="micrometres a pixel"):
        open_features(tmp_path, tool="stamp", mpp=-1.0)
    with pytest.raises(InputError, match="check --patches"):
        open_features(tmp_path, tool="clam", patches=tmp_path / "none")
