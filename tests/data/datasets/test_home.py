import gzip
import lzma
import shutil
from pathlib import Path

import pytest

from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.datasets.fetch import fetch_dataset
from bagwise.data.datasets.home import find_dataset_files, get_data_home, is_fetched, locate_files
from bagwise.data.datasets.origins import ORIGINS
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

NEWSGROUPS = ("data.csv", "labels.csv", "bagids.csv")


def test_get_data_home_follows_the_environment(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/shared")
    monkeypatch.setenv("BAGWISE_DATA", "~/mine")
    assert get_data_home() == Path.home() / "mine"
    monkeypatch.delenv("BAGWISE_DATA")
    assert get_data_home() == Path("/shared/bagwise")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert get_data_home() == Path.home() / ".local" / "share" / "bagwise"


@pytest.mark.parametrize("name", ORIGINS)
def test_locate_files_names_a_missing_data_set_its_origin_and_the_command(name, empty_home):
    assert not is_fetched(name)
    with pytest.raises(InputError, match=f"{name} is not in the data home .*bagwise data fetch {name}") as caught:
        locate_files(name)
    assert "--from FOLDER_OR_URL" in str(caught.value)
    assert ORIGINS[name].page in str(caught.value)
    assert str(empty_home) in str(caught.value)


@needs_real_data("newsgroups-1")
def test_locate_files_finds_any_form_of_a_file(empty_home):
    folder = empty_home / "mil_extra" / "Newsgroups1"
    folder.mkdir(parents=True)
    contents = {name: read_content(HOME / "mil_extra" / "Newsgroups1" / f"{name}.xz") for name in NEWSGROUPS}
    (folder / "data.csv").write_bytes(contents["data.csv"])
    (folder / "labels.csv.gz").write_bytes(gzip.compress(contents["labels.csv"], 3))
    (folder / "bagids.csv.xz").write_bytes(lzma.compress(contents["bagids.csv"], preset=1))
    assert is_fetched("newsgroups-1")
    assert locate_files("newsgroups-1")["mil_extra/Newsgroups1/labels.csv"] == folder / "labels.csv.gz"


@needs_real_data("newsgroups-1", "musk1", "musk2")
def test_locate_files_rejects_a_changed_file_by_name(empty_home):
    fetch_dataset("newsgroups-1", HOME)
    labels = empty_home / "mil_extra" / "Newsgroups1" / "labels.csv.xz"
    changed = read_content(labels).replace(b"1", b"0", 1)
    message = r"labels\.csv\.xz is not labels\.csv: its SHA-256 is .*data fetch newsgroups-1"
    for content in (changed, lzma.compress(changed), labels.read_bytes()[:-1]):
        labels.write_bytes(content)
        with pytest.raises(InputError, match=message):
            load_dataset("newsgroups-1")
    (empty_home / "mil_classic").mkdir()
    shutil.copyfile(HOME / "mil_classic" / "musk2.mat", empty_home / "mil_classic" / "musk1.mat")
    with pytest.raises(InputError, match=r"it is mil_classic/musk2\.mat under another name"):
        load_dataset("musk1")


def find_in(folder, name):
    origin = ORIGINS[name]
    return find_dataset_files(list(origin.parts), origin, folder)


@needs_real_data("newsgroups-1", "brown-creeper")
def test_find_dataset_files_distinguishes_files_of_the_same_name_by_hash(tmp_path):
    for number, name in enumerate(("BrownCreeper", "Newsgroups1")):
        shutil.copytree(HOME / "mil_extra" / name, tmp_path / "deep" / str(number))
    found = find_in(tmp_path, "newsgroups-1")
    assert {path.parent.name for path in found.values()} == {"1"}


@needs_real_data("musk1", "musk2")
def test_find_dataset_files_finds_files_with_swapped_names(tmp_path):
    """The names are swapped as in a clone of the public repository, which swaps musk1 and musk2."""
    shutil.copyfile(HOME / "mil_classic" / "musk1.mat", tmp_path / "musk2.mat")
    shutil.copyfile(HOME / "mil_classic" / "musk2.mat", tmp_path / "musk1.mat")
    assert find_in(tmp_path, "musk1")["mil_classic/musk1.mat"].name == "musk2.mat"
    assert find_in(tmp_path, "musk2")["mil_classic/musk2.mat"].name == "musk1.mat"


@needs_real_data("musk1")
def test_find_dataset_files_recognises_a_wrong_file(tmp_path):
    shutil.copyfile(HOME / "mil_classic" / "musk1.mat", tmp_path / "fox.mat")
    with pytest.raises(InputError, match=r"fox\.mat is not fox\.mat.*mil_classic/musk1\.mat under another name"):
        find_in(tmp_path, "fox")


def test_find_dataset_files_names_missing_files_and_a_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"img1\.webp or img1\.bmp, img1_epithelial\.mat.* and 497 more are missing"):
        find_in(tmp_path, "colon-cancer")
    with pytest.raises(InputError, match="nowhere is not a folder"):
        find_in(tmp_path / "nowhere", "fox")
