"""The picture of a bag is found by comparing its name with a listing; a name is never used as part of a path."""

import re

import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps.picture_folder import PictureFolder
from real_data import HOME, needs_real_data


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.svs").touch()
    folder = tmp_path / "slides"
    for name in (
        "s1.svs",
        "a/x.png",
        "b/x.png",
        "deep/er/s2.NDPI",
        "v1.2.tif",
        "notes.txt",
        ".hidden.svs",
        ".h/s9.svs",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("s1", "s1.svs"),
        ("s1.svs", "s1.svs"),
        ("s2", "deep/er/s2.NDPI"),
        ("v1.2", "v1.2.tif"),
        ("a/x.png", "a/x.png"),
        ("b/x", "b/x.png"),
        ("s1@1024-2048", "s1.svs"),
    ],
)
def test_find_returns_the_file_of_a_name(folder, name, file):
    pictures = PictureFolder.of_folder(folder)
    assert pictures.find(name) == pictures.get(name) == folder / file


@pytest.mark.parametrize(
    "name",
    ["s3", "", ".", "..", "../secret", "../secret.svs", "/etc/passwd", "s1.svs/../s1", "./s1", "s1\0", "notes", "s9"]
    + [".hidden", "%2e%2e/secret", "S1", "@0-0"],
)
def test_find_returns_none_and_get_names_the_bag(folder, name):
    pictures = PictureFolder.of_folder(folder)
    assert pictures.find(name) is None
    with pytest.raises(InputError, match=re.escape(f"contains no picture of bag '{name}' among its 5 pictures")):
        pictures.get(name)


def test_find_names_the_files_that_match_ambiguously(folder):
    with pytest.raises(InputError, match=r"contains several pictures of bag 'x': a/x\.png, b/x\.png; keep one"):
        PictureFolder.of_folder(folder).find("x")


def test_find_prefers_the_exact_name_over_the_slide_of_a_region(folder):
    (folder / "s1@5-7.svs").touch()
    assert PictureFolder.of_folder(folder).find("s1@5-7") == folder / "s1@5-7.svs"


def test_of_folder_ignores_links_out_of_the_folder(folder, tmp_path):
    (folder / "out.svs").symlink_to(tmp_path / "secret.svs")
    (folder / "all").symlink_to(tmp_path)
    (folder / "gone.svs").symlink_to(tmp_path / "nothing.svs")
    (folder / "within.svs").symlink_to(folder / "s1.svs")
    pictures = PictureFolder.of_folder(folder)
    for name in ("out", "secret", "gone"):
        assert pictures.find(name) is None
    assert pictures.find("within") == folder / "within.svs"


def test_of_folder_and_of_dataset_reject_unknown_sources_by_name(tmp_path):
    with pytest.raises(InputError, match="nowhere is not a folder"):
        PictureFolder.of_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="image data set 'musk1' is unknown"):
        PictureFolder.of_dataset("musk1")


@needs_real_data("colon-cancer", "breast-cancer")
def test_of_dataset_finds_the_images_of_the_paper(monkeypatch):
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    colon, breast = PictureFolder.of_dataset("colon-cancer"), PictureFolder.of_dataset("breast_cancer")
    assert (len(colon.files), len(breast.files)) == (100, 58)
    assert colon.get("img7").stem == "img7"
    assert breast.get("ytma10_010704_malignant2_ccd").stem == "ytma10_010704_malignant2_ccd"
