from pathlib import Path

import pytest

from bagwise.datasets.home import data_home, is_there, locate
from bagwise.datasets.origins import ORIGINS
from bagwise.errors import InputError


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


def test_any_form_of_a_file_is_found(empty_home):
    folder = empty_home / "mil_extra" / "Newsgroups1"
    folder.mkdir(parents=True)
    for name in ("data.csv", "labels.csv.gz", "bagids.csv.xz"):
        (folder / name).write_bytes(b"")
    assert is_there("newsgroups-1")
    assert locate("newsgroups-1")["mil_extra/Newsgroups1/labels.csv"] == folder / "labels.csv.gz"
