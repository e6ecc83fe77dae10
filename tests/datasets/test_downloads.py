import os
from types import SimpleNamespace

import pytest

from bagwise.datasets import downloads
from bagwise.datasets.downloads import download
from bagwise.errors import InputError

CONTENT = os.urandom(300_000)


def bring(address, part):
    seen = []
    return download(address, part, lambda done, total: seen.append((done, total))), seen


def test_a_whole_file_arrives_and_is_watched(tmp_path, serve):
    server = serve({"a/file": CONTENT})
    found, seen = bring(f"{server.address}/a/file", tmp_path / "file.part")
    assert found
    assert (tmp_path / "file.part").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_a_cut_download_goes_on_where_it_stopped(tmp_path, serve):
    server = serve({"file": CONTENT}, cut=70_000)
    found, _ = bring(f"{server.address}/file", tmp_path / "file.part")
    assert found
    assert (tmp_path / "file.part").read_bytes() == CONTENT
    assert server.sent == len(CONTENT)  # no byte twice
    assert [wanted for _, wanted in server.requests][:3] == [None, "bytes=70000-", "bytes=140000-"]


def test_a_part_of_an_earlier_try_is_continued_and_a_whole_one_is_left_alone(tmp_path, serve):
    server = serve({"file": CONTENT})
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT[:290_000])
    assert bring(f"{server.address}/file", part)[0]
    assert server.sent == 10_000
    assert bring(f"{server.address}/file", part)[0]
    assert server.sent == 10_000
    assert part.read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_dropped(tmp_path, serve):
    server = serve({"file": CONTENT})
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT + b"more")
    assert bring(f"{server.address}/file", part)[0]
    assert part.read_bytes() == CONTENT


def test_a_server_without_ranges_sends_the_whole_again(tmp_path, serve):
    server = serve({"file": CONTENT}, ranges=False)
    part = tmp_path / "file.part"
    part.write_bytes(b"x" * 1000)
    assert bring(f"{server.address}/file", part)[0]
    assert part.read_bytes() == CONTENT


def test_a_server_that_sends_nothing_is_given_up_and_the_part_is_kept(tmp_path, serve):
    server = serve({"file": CONTENT}, cut=0)
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT[:5])
    with pytest.raises(InputError, match="cut after 5 bytes"):
        bring(f"{server.address}/file", part)
    assert part.read_bytes() == CONTENT[:5]
    assert len(server.requests) == downloads.TRIES


def test_what_is_not_there_is_told_and_what_cannot_be_reached_is_refused(tmp_path, serve):
    server = serve({})
    assert not bring(f"{server.address}/a file with spaces", tmp_path / "file.part")[0]
    assert not (tmp_path / "file.part").exists()
    with pytest.raises(InputError, match="cannot be reached"):
        bring("http://127.0.0.1:9/file", tmp_path / "file.part")


@pytest.mark.parametrize("address", ["http://[::1/file", "http://exa mple.invalid/file", f"http://{'a' * 80}.b/file"])
def test_what_is_no_address_is_refused_as_such(tmp_path, address):
    with pytest.raises(InputError, match="is no address of the web"):
        bring(address, tmp_path / "home" / "file.part")
    assert list(tmp_path.iterdir()) == []


def test_an_endless_answer_is_refused(tmp_path, serve, monkeypatch):
    monkeypatch.setattr(downloads, "LIMIT", 100_000)
    server = serve({"file": CONTENT})
    with pytest.raises(InputError, match="sends more than"):
        bring(f"{server.address}/file", tmp_path / "file.part")


def test_what_does_not_fit_on_the_disk_is_refused_before_a_byte_comes(tmp_path, serve, monkeypatch):
    server = serve({"file": CONTENT})
    monkeypatch.setattr("bagwise.files.shutil.disk_usage", lambda place: SimpleNamespace(free=len(CONTENT) - 1))
    with pytest.raises(InputError, match=r"file\.part will take .* make room"):
        bring(f"{server.address}/file", tmp_path / "home" / "file.part")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file.part").write_bytes(CONTENT[:1])  # then only the rest must fit
    assert bring(f"{server.address}/file", tmp_path / "file.part")[0]
