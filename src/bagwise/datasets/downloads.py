"""A download over HTTP that goes on where it was cut.

Bytes are added to a ``.part`` file; when it exists, only the rest is asked for (Range). A server that knows no ranges
sends the whole again. What the bytes are worth is judged by their SHA-256, by the caller.
"""

import http.client
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import bagwise
from bagwise.errors import InputError
from bagwise.files import check_room, naming

PIECE = 1 << 16
TRIES = 3  # in a row without a byte more
TIMEOUT = 30.0  # seconds without an answer
LIMIT = 1 << 30  # no file of a data set is nearly as large
NO_SUCH_RANGE = 416
MISSING = (404, 410)
CUT = (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError)
ADDRESS_SIGNS = "%/:=&?~#+!$,;'@()*[]"  # what a typed address may hold as it is

Watch = Callable[[int, int | None], None]


def download(address: str, part: Path, watch: Watch) -> bool:
    """Bring ``part`` to its full length; False if the server has no such file."""
    tries = 0
    while tries < TRIES:
        before = _length(part)
        try:
            if _attempt(address, part, watch):
                return True
        except urllib.error.HTTPError as error:
            with error:
                if error.code in MISSING:
                    return False
                raise InputError(f"{address} answers {error.code} {error.reason}; try another --from") from None
        except urllib.error.URLError as error:
            raise _unreachable(address, error.reason) from None
        except InputError:
            raise
        except (http.client.InvalidURL, ValueError) as error:
            raise InputError(f"'{address}' is no address of the web ({error}); check --from") from None
        except CUT:
            pass  # ask for the rest
        tries = 0 if _length(part) > before else tries + 1
    raise InputError(
        f"{address} was cut after {_length(part)} bytes, {TRIES} times; fetch again: it goes on from there"
    )


def _attempt(address: str, part: Path, watch: Watch) -> bool:
    """Ask for what is missing; True if the answer came to its announced end."""
    start = _length(part)
    headers = {"User-Agent": f"bagwise/{bagwise.__version__}"} | ({"Range": f"bytes={start}-"} if start else {})
    request = urllib.request.Request(urllib.parse.quote(address, safe=ADDRESS_SIGNS), headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != NO_SUCH_RANGE or not start:
            raise
        with error:
            return _is_whole(error.headers, part)
    with answer:
        if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            start = 0
        elif not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            part.unlink()  # another piece than we asked for: begin anew
            return False
        announced = answer.headers.get("Content-Length")
        total = start + int(announced) if announced and announced.isdigit() else None
        check_room(part, 0 if total is None else total - start)
        part.parent.mkdir(parents=True, exist_ok=True)
        with naming(part, part), part.open("ab" if start else "wb") as stream:
            done = _pour(answer, stream, start, total, watch)
    return total is None or done == total


def _pour(answer: Any, stream: IO[bytes], done: int, total: int | None, watch: Watch) -> int:
    while piece := answer.read(PIECE):
        stream.write(piece)
        done += len(piece)
        watch(done, total)
        if done > LIMIT:
            raise InputError(f"{answer.url} sends more than {LIMIT >> 20} MB; it is not a file of this data set")
    return done


def _is_whole(headers: Any, part: Path) -> bool:
    """The server has nothing after our last byte: we have all of it, or a longer file of another kind."""
    whole = headers.get("Content-Range", "") == f"bytes */{_length(part)}"
    if not whole:
        part.unlink(missing_ok=True)
    return whole


def _length(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _unreachable(address: str, reason: object) -> InputError:
    return InputError(
        f"{address} cannot be reached ({reason}); check the connection, or download the files by hand and pass "
        "--from FOLDER"
    )
