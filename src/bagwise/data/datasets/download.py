"""Downloads over HTTP that resume after an interruption, and their progress bar.

Bytes are appended to a ``.part`` file. If it already exists, only the rest is requested (header Range); a server
without support for ranges sends the whole file again. The caller verifies the SHA-256 of the result.
"""

import http.client
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import bagwise
from bagwise.errors import InputError
from bagwise.io import check_disk_space, name_path_in_errors

if TYPE_CHECKING:
    from rich.console import Console

MAX_ATTEMPTS = 3  # consecutive attempts that receive no data
TIMEOUT = 30.0  # seconds without a response
MAX_BYTES = 1 << 30  # far more than any file of a data set
CHUNK_BYTES = 1 << 16
NO_SUCH_RANGE = 416
NOT_FOUND = (404, 410)
CONNECTION_ERRORS = (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError)
SAFE_CHARACTERS = "%/:=&?~#+!$,;'@()*[]"  # characters of a URL that are not quoted

ReportBytes = Callable[[int, int | None], None]  # bytes received, and the total if the server announced it


def download_file(url: str, part: Path, report: ReportBytes) -> bool:
    """Download a URL, or the rest of it, to ``part``; return False if the server has no such file."""
    attempts = 0
    while attempts < MAX_ATTEMPTS:
        before = _get_size(part)
        try:
            if _download_rest(url, part, report):
                return True
        except urllib.error.HTTPError as error:
            with error:
                if error.code in NOT_FOUND:
                    return False
                raise InputError(f"{url} returned {error.code} {error.reason}; try another --from") from None
        except urllib.error.URLError as error:
            raise InputError(
                f"{url} cannot be reached ({error.reason}); check the connection, or download the files by hand and "
                "pass --from FOLDER"
            ) from None
        except InputError:
            raise
        except (http.client.InvalidURL, ValueError) as error:
            raise InputError(f"'{url}' is not a valid URL ({error}); check --from") from None
        except CONNECTION_ERRORS:
            pass  # retry: request the rest
        attempts = 0 if _get_size(part) > before else attempts + 1
    raise InputError(
        f"{url}: the connection was lost {MAX_ATTEMPTS} times after {_get_size(part)} bytes; "
        "run the same command again to resume the download"
    )


def _download_rest(url: str, part: Path, report: ReportBytes) -> bool:
    """Request the missing bytes; return True if the response reached its announced end."""
    start = _get_size(part)
    headers = {"User-Agent": f"bagwise/{bagwise.__version__}"} | ({"Range": f"bytes={start}-"} if start else {})
    request = urllib.request.Request(urllib.parse.quote(url, safe=SAFE_CHARACTERS), headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != NO_SUCH_RANGE or not start:
            raise
        with error:
            return _is_complete(error.headers, part)
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            start = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            part.unlink()  # not the range that was requested: start over
            return False
        announced = response.headers.get("Content-Length")
        total = start + int(announced) if announced and announced.isdigit() else None
        check_disk_space(part, 0 if total is None else total - start)
        part.parent.mkdir(parents=True, exist_ok=True)
        with name_path_in_errors(part, part), part.open("ab" if start else "wb") as stream:
            received = _copy_response(response, stream, start, total, report)
    return total is None or received == total


def _copy_response(response: Any, stream: IO[bytes], received: int, total: int | None, report: ReportBytes) -> int:
    while chunk := response.read(CHUNK_BYTES):
        stream.write(chunk)
        received += len(chunk)
        report(received, total)
        if received > MAX_BYTES:
            raise InputError(f"{response.url} sends more than {MAX_BYTES >> 20} MB; it is not a file of this data set")
    return received


def _is_complete(headers: Any, part: Path) -> bool:
    """Return whether the part has the size of the server's file; otherwise it is of another file and is removed."""
    complete = headers.get("Content-Range", "") == f"bytes */{_get_size(part)}"
    if not complete:
        part.unlink(missing_ok=True)
    return bool(complete)


def _get_size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


class DownloadProgress:
    """Receives the progress of a fetch and shows nothing; subclasses may show it.

    It is a context manager, which is entered before the first file is fetched and left after the last.
    """

    def __enter__(self) -> "DownloadProgress":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def start(self, n_files: int) -> None:
        """Handle the start of a fetch.

        Parameters
        ----------
        n_files : int
            Number of files to fetch.
        """

    def update_file(self, name: str, received: int, total: int | None) -> None:
        """Handle the progress of the current file.

        Parameters
        ----------
        name : str
            Name of the file.
        received : int
            Number of bytes received so far.
        total : int or None
            Size of the file in bytes; None if it is unknown.
        """

    def finish_file(self) -> None:
        """Handle the completion of the current file."""


class DownloadProgressBar(DownloadProgress):
    """A progress bar of at most 80 columns: number of files done, the current file, and its bytes received.

    Parameters
    ----------
    console : rich.console.Console or None, default=None
        Where to draw the bar; None means the terminal.
    """

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        state = TextColumn("{task.fields[state]}", markup=False)
        self.bar = RichProgress(
            TextColumn("fetching"), BarColumn(bar_width=16), MofNCompleteColumn(), state, console=console
        )

    def __enter__(self) -> "DownloadProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def start(self, n_files: int) -> None:
        """Add a bar for ``n_files`` files."""
        self.n_done = 0
        self.task = self.bar.add_task("", total=n_files, state="")

    def update_file(self, name: str, received: int, total: int | None) -> None:
        """Show the current file and its bytes received."""
        share = received / total if total else 0.0
        self.bar.update(self.task, completed=self.n_done + min(share, 1.0), state=f"{name} {received / 1e6:.1f} MB")

    def finish_file(self) -> None:
        """Count a complete file."""
        self.n_done += 1
        self.bar.update(self.task, completed=self.n_done)
