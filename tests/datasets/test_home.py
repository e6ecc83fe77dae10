import gzip
import lzma
import shutil
from pathlib import Path

import pytest

from bagwise.datasets import fetch, load_dataset
from bagwise.datasets.home import data_home, is_there, locate
from bagwise.datasets.origins import ORIGINS
from bagwise.datasets.wrappers import content
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

NEWSGROUPS = ("data.csv", "labels.csv", "bagids.csv")


def test_the_home_is_chosen_by_the_environment(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/shared")
    monkeypatch.setenv("BAGWISE_DATA", "~/mine")
    assert data_home() == Path.home() / "mine"
    monkeypatch.delenv("BAGWISE_DATA")
    assert data_home() == Path("/shared/bagwise")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_home() == Path.home() / ".local" / "share" / "bagwise"


@pytest.mark.parametrize("name", ORIGINS)
def test_a_missing_set_says_how_to_fetch_it_and_where_it_is_from(name, empty_home):
    assert not is_there(name)
    with pytest.raises(InputError, match=f"bagwise data fetch {name}") as refused:
        locate(name)
    assert "--from FOLDER_OR_URL" in str(refused.value)
    assert ORIGINS[name].page in str(refused.value)
    assert str(empty_home) in str(refused.value)


@needs_real_data("newsgroups-1")
def test_any_form_of_a_file_is_found(empty_home):
    folder = empty_home / "mil_extra" / "Newsgroups1"
    folder.mkdir(parents=True)
    held = {name: content(HOME / "mil_extra" / "Newsgroups1" / f"{name}.xz") for name in NEWSGROUPS}
    (folder / "data.csv").write_bytes(held["data.csv"])
    (folder / "labels.csv.gz").write_bytes(gzip.compress(held["labels.csv"], 3))
    (folder / "bagids.csv.xz").write_bytes(lzma.compress(held["bagids.csv"], preset=1))
    assert is_there("newsgroups-1")
    assert locate("newsgroups-1")["mil_extra/Newsgroups1/labels.csv"] == folder / "labels.csv.gz"


@needs_real_data("newsgroups-1", "musk1", "musk2")
def test_a_file_that_changed_since_it_was_fetched_is_refused_by_name(empty_home):
    fetch("newsgroups-1", HOME)
    labels = empty_home / "mil_extra" / "Newsgroups1" / "labels.csv.xz"
    changed = content(labels).replace(b"1", b"0", 1)
    for held in (changed, lzma.compress(changed), labels.read_bytes()[:-1]):
        labels.write_bytes(held)
        with pytest.raises(
            InputError, match=r"labels\.csv\.xz is not labels\.csv: its SHA-256 is .*data fetch newsgroups-1"
        ):
            load_dataset("newsgroups-1")
    (empty_home / "mil_classic").mkdir()
    shutil.copyfile(HOME / "mil_classic" / "musk2.mat", empty_home / "mil_classic" / "musk1.mat")
    with pytest.raises(InputError, match=r"it is mil_classic/musk2\.mat under another name"):
        load_dataset("musk1")
