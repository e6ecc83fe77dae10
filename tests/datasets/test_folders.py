import shutil

import pytest

from bagwise.datasets.folders import find_all
from bagwise.datasets.origins import ORIGINS
from bagwise.errors import InputError
from real_data import HOME, needs_real_data


def look(name, folder):
    origin = ORIGINS[name]
    return find_all(list(origin.parts), origin, folder)


@needs_real_data("newsgroups-1", "brown-creeper")
def test_files_of_the_same_name_are_told_apart_by_their_hashes(tmp_path):
    for number, name in enumerate(("BrownCreeper", "Newsgroups1")):
        shutil.copytree(HOME / "mil_extra" / name, tmp_path / "deep" / str(number))
    found = look("newsgroups-1", tmp_path)
    assert {path.parent.name for path in found.values()} == {"1"}


@needs_real_data("musk1", "musk2")
def test_the_files_are_found_in_a_clone_of_the_repository_that_swaps_their_names(tmp_path):
    shutil.copyfile(HOME / "mil_classic" / "musk1.mat", tmp_path / "musk2.mat")
    with pytest.raises(InputError, match=r"mil_classic/musk1\.mat under another name"):
        look("fox", _renamed(tmp_path, "fox.mat"))
    shutil.copyfile(HOME / "mil_classic" / "musk2.mat", tmp_path / "musk1.mat")
    assert look("musk1", tmp_path)["mil_classic/musk1.mat"].name == "musk2.mat"
    assert look("musk2", tmp_path)["mil_classic/musk2.mat"].name == "musk1.mat"


def _renamed(folder, name):
    shutil.copyfile(folder / "musk2.mat", folder / name)
    return folder


def test_the_missing_are_named_and_a_file_is_no_folder(tmp_path):
    with pytest.raises(InputError, match=r"img1\.webp or img1\.bmp, img1_epithelial\.mat.* and 497 more are missing"):
        look("colon-cancer", tmp_path)
    with pytest.raises(InputError, match="nowhere is not a folder"):
        look("fox", tmp_path / "nowhere")
