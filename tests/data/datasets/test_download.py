import io
import os
from types import SimpleNamespace

import pytest
from rich.console import Console

from bagwise.data.datasets import download
from bagwise.data.datasets.download import DownloadProgressBar, download_file
from bagwise.errors import InputError

CONTENT = os.urandom(300_000)


def fetch(url, part):
    return download_file(url, part, lambda received, total: None)


def test_download_file_reports_progress_up_to_the_announced_size(tmp_path, serve):
    server = serve({"a/file": CONTENT})
    reports = []
    assert download_file(
        f"{server.address}/a/file", tmp_path / "file.part", lambda received, total: reports.append((received, total))
    )
    assert (tmp_path / "file.part").read_bytes() == CONTENT
    assert reports[-1] == (len(CONTENT), len(CONTENT))


def test_download_file_resumes_after_a_lost_connection(tmp_path, serve):
    server = serve({"file": CONTENT}, cut=70_000)
    assert fetch(f"{server.address}/file", tmp_path / "file.part")
    assert (tmp_path / "file.part").read_bytes() == CONTENT
    assert server.sent == len(CONTENT)  # no byte is sent twice
    assert [requested for _, requested in server.requests][:3] == [None, "bytes=70000-", "bytes=140000-"]


def test_download_file_resumes_an_earlier_part_and_keeps_a_complete_one(tmp_path, serve):
    server = serve({"file": CONTENT})
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT[:290_000])
    assert fetch(f"{server.address}/file", part)
    assert server.sent == 10_000
    assert fetch(f"{server.address}/file", part)
    assert server.sent == 10_000
    assert part.read_bytes() == CONTENT


def test_download_file_replaces_a_part_that_is_longer_than_the_file(tmp_path, serve):
    server = serve({"file": CONTENT})
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT + b"more")
    assert fetch(f"{server.address}/file", part)
    assert part.read_bytes() == CONTENT


def test_download_file_starts_over_if_the_server_has_no_ranges(tmp_path, serve):
    server = serve({"file": CONTENT}, ranges=False)
    part = tmp_path / "file.part"
    part.write_bytes(b"x" * 1000)
    assert fetch(f"{server.address}/file", part)
    assert part.read_bytes() == CONTENT


def test_download_file_gives_up_on_a_server_that_sends_nothing_and_keeps_the_part(tmp_path, serve):
    server = serve({"file": CONTENT}, cut=0)
    part = tmp_path / "file.part"
    part.write_bytes(CONTENT[:5])
    with pytest.raises(InputError, match=r"lost 3 times after 5 bytes; run the same command again to resume"):
        fetch(f"{server.address}/file", part)
    assert part.read_bytes() == CONTENT[:5]
    assert len(server.requests) == download.MAX_ATTEMPTS


def test_download_file_returns_false_for_a_missing_file(tmp_path, serve):
    assert not fetch(f"{serve({}).address}/a file with spaces", tmp_path / "file.part")
    assert not (tmp_path / "file.part").exists()


def test_download_file_names_a_url_that_cannot_be_reached(tmp_path):
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:9/file cannot be reached"):
        fetch("http://127.0.0.1:9/file", tmp_path / "file.part")


@pytest.mark.parametrize("url", ["http://[::1/file", "http://exa mple.invalid/file", f"http://{'a' * 80}.b/file"])
def test_download_file_rejects_an_invalid_url(tmp_path, url):
    with pytest.raises(InputError, match="is not a valid URL"):
        fetch(url, tmp_path / "home" / "file.part")
    assert list(tmp_path.iterdir()) == []


def test_download_file_rejects_an_endless_response(tmp_path, serve, monkeypatch):
    monkeypatch.setattr(download, "MAX_BYTES", 100_000)
    server = serve({"file": CONTENT})
    with pytest.raises(InputError, match="sends more than"):
        fetch(f"{server.address}/file", tmp_path / "file.part")


def test_download_file_checks_the_disk_space_before_the_first_byte(tmp_path, serve, monkeypatch):
    server = serve({"file": CONTENT})
    monkeypatch.setattr("bagwise.io.atomic.shutil.disk_usage", lambda place: SimpleNamespace(free=len(CONTENT) - 1))
    with pytest.raises(InputError, match=r"file\.part"):
        fetch(f"{server.address}/file", tmp_path / "home" / "file.part")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file.part").write_bytes(CONTENT[:1])  # now only the rest must fit
    assert fetch(f"{server.address}/file", tmp_path / "file.part")


def test_download_progress_bar_counts_files_and_names_the_current_one():
    text = io.StringIO()
    with DownloadProgressBar(Console(file=text, force_terminal=True, width=80)) as bar:
        bar.start(3)
        bar.update_file("img1.bmp", 500_000, 1_000_000)
        bar.finish_file()
        bar.update_file("[red].bmp", 2_500_000, None)
    assert "1/3" in text.getvalue()
    assert "[red].bmp 2.5 MB" in text.getvalue()
