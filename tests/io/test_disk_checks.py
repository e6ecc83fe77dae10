"""Free space and permissions are checked before anything is written."""

import shutil
from types import SimpleNamespace

import pytest

from bagwise.errors import InputError
from bagwise.io.disk_checks import check_disk_space, check_file_exists, check_writable


def test_check_file_exists_distinguishes_missing_files_from_folders(tmp_path):
    (tmp_path / "a.csv").touch()
    check_file_exists(tmp_path / "a.csv")
    with pytest.raises(InputError, match=f"^no such file: {tmp_path / 'b.csv'}; check the path$"):
        check_file_exists(tmp_path / "b.csv")
    with pytest.raises(InputError, match=f"^{tmp_path} is not a file; pass a slide$"):
        check_file_exists(tmp_path, "pass a slide")


def test_check_disk_space_rejects_only_what_does_not_fit(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: (asked.append(path), SimpleNamespace(free=1000))[1])
    check_disk_space(tmp_path / "new" / "deep", 1000)
    with pytest.raises(
        InputError, match="deep needs 1,001 bytes, but only 1,000 are free on its disk; free some disk space"
    ):
        check_disk_space(tmp_path / "new" / "deep", 1001)
    assert asked == [tmp_path, tmp_path]  # the closest existing parent folder


def test_check_writable_leaves_nothing_behind(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "new" / "deep" / "note.txt", tmp_path / "note.txt"):
        check_writable(path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(InputError, match="is a file or below a file"):
        check_writable(tmp_path / "file" / "note.txt")
