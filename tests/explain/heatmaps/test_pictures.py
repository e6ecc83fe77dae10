"""The picture of a bag is found by its name among the files that are there; a name is never made part of a path."""

import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps.pictures import Pictures
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
def test_a_name_finds_its_file(folder, name, file):
    pictures = Pictures.of_folder(folder)
    assert pictures.find(name) == pictures.get(name) == folder / file


@pytest.mark.parametrize(
    "name",
    ["s3", "", ".", "..", "../secret", "../secret.svs", "/etc/passwd", "s1.svs/../s1", "./s1", "s1\0", "notes", "s9"]
    + [".hidden", "%2e%2e/secret", "S1", "@0-0"],
)
def test_other_names_find_nothing(folder, name):
    pictures = Pictures.of_folder(folder)
    assert pictures.find(name) is None
    with pytest.raises(InputError, match=r"holds no picture of bag .* among its 5"):
        pictures.get(name)


def test_a_name_of_several_files_is_refused_with_them(folder):
    with pytest.raises(InputError, match=r"holds several pictures of bag 'x': a/x\.png, b/x\.png; leave one"):
        Pictures.of_folder(folder).find("x")


def test_the_exact_name_wins_over_its_square(folder):
    (folder / "s1@5-7.svs").touch()
    assert Pictures.of_folder(folder).find("s1@5-7") == folder / "s1@5-7.svs"


def test_links_out_of_the_folder_are_passed_over(folder, tmp_path):
    (folder / "out.svs").symlink_to(tmp_path / "secret.svs")
    (folder / "all").symlink_to(tmp_path)
    (folder / "gone.svs").symlink_to(tmp_path / "nothing.svs")
    (folder / "within.svs").symlink_to(folder / "s1.svs")
    pictures = Pictures.of_folder(folder)
    for name in ("out", "secret", "gone"):
        assert pictures.find(name) is None
    assert pictures.find("within") == folder / "within.svs"


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        Pictures.of_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="data set of images 'musk1' is unknown"):
        Pictures.of_dataset("musk1")


@needs_real_data("colon-cancer", "breast-cancer")
def test_the_images_of_the_paper_are_found_by_the_names_of_their_bags(monkeypatch):
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    colon, breast = Pictures.of_dataset("colon-cancer"), Pictures.of_dataset("breast_cancer")
    assert (len(colon.files), len(breast.files)) == (100, 58)
    assert colon.get("img7").stem == "img7"
    assert breast.get("ytma10_010704_malignant2_ccd").stem == "ytma10_010704_malignant2_ccd"
