"""Files that are whole or not there: written beside, flushed to disk, renamed."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bagwise.drafts import DRAFT, beside, clear_dead, held, marked
from bagwise.errors import InputError

MANIFEST = "manifest.json"
ASIDE = f"{DRAFT}old-"
CHUNK = 1 << 20
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # only somebody who writes hears of these


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; when the block ends well it becomes ``path``, else nothing remains.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with atomic(target) as draft:
    ...     _ = draft.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file's path")
    draft = beside(path)
    with _placing(path), naming(path, draft):
        try:
            yield draft
            _sync(draft)
            draft.replace(path)
            _sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(path: Path, kind: str | None = None) -> Iterator[Path]:
    """The same for a folder: it appears complete, or not at all.

    A folder that stood there is replaced; with a ``kind`` only if it is empty or its manifest says that it is one of
    that kind, so that nobody's other files are lost.
    """
    path = Path(path)
    recover(path)
    if path.is_symlink() or path.is_file():
        raise InputError(f"{path} is a file or a link; choose another folder")
    if Path.cwd().is_relative_to(path.resolve()):
        raise InputError(f"'{path}' is the folder you stand in, or holds it, and would be replaced; give a new path")
    if kind is not None and path.exists() and any(path.iterdir()) and _kind_of(path) != kind:
        raise InputError(f"{path} holds other files; choose a new folder")
    clear_dead(path)
    draft = beside(path, marked(path))
    with _placing(path), naming(path, draft), held(draft):
        yield draft
        for file in draft.rglob("*"):
            _sync(file)
        _sync(draft)
        _put_in_place(draft, path)
        _sync(path.parent)


def check_writable(path: Path) -> None:
    """Raise the error that writing to a path would raise, before any work is done for it; nothing is left there."""
    path = Path(path)
    draft = beside(path)
    with contextlib.suppress(_Tried), _placing(path), naming(path, draft):
        draft.touch()
        draft.unlink()
        raise _Tried


def check_room(path: Path, wanted: int) -> None:
    """Refuse what is known to need more bytes than the disk of a path has left."""
    there = next(place for place in (Path(path).absolute(), *Path(path).absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    if wanted > free:
        raise InputError(
            f"{path} will take {wanted:,} bytes, and its disk has {free:,} left; make room, or choose another place"
        )


class _Tried(Exception):  # noqa: N818 (no error: whoever raises it wants nothing to stay)
    """Nothing was to be written."""


@contextlib.contextmanager
def _placing(path: Path) -> Iterator[None]:
    """The folder of a path is made if need be; if the block fails, it goes again, unless it is in use."""
    made = [folder for folder in path.parents if not folder.exists()]
    try:
        _make_parent(path)
        yield
    except BaseException:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextlib.contextmanager
def naming(path: Path, draft: Path) -> Iterator[None]:
    """Let errors of the system name the path that was asked for: not its draft, nor nothing, as a full disk does."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM or draft.name in str(error.filename):
            error.filename = str(path)
        raise


def _kind_of(folder: Path) -> str | None:
    """What a sealed folder says it is; None for any other."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest.get("kind") if isinstance(manifest, dict) else None


def _put_in_place(draft: Path, path: Path) -> None:
    if not path.exists():
        draft.replace(path)
        return
    aside, old = beside(path, ASIDE), beside(path, marked(path))
    try:
        aside.mkdir()
        path.replace(aside / path.name)
        draft.replace(path)
        _discard(aside, old)
    finally:
        recover(path)
        if path.exists():  # and Ctrl-C came before the old was gone
            _discard(aside, old)


def _discard(aside: Path, old: Path) -> None:
    if aside.exists():
        aside.replace(old)  # from here on nobody takes it for what should stand at the path
    shutil.rmtree(old, ignore_errors=True)


def recover(path: Path) -> None:
    """Put back a folder whose replacement was killed between two renames: set aside, and nothing yet in its place."""
    path = Path(path)
    if path.exists() or path.is_symlink():
        return
    asides = [aside for aside in path.parent.glob(f"{ASIDE}*") if (aside / path.name).is_dir()]
    if asides:
        newest = max(asides, key=lambda aside: aside.stat().st_mtime_ns)
        (newest / path.name).replace(path)
        newest.rmdir()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path} cannot be written: {path.parent} is, or lies in, a file; give another path") from None


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically; NaN is refused, because it is not JSON."""
    with atomic(path) as draft:
        draft.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read JSON; a missing or damaged file is the user's to mend, so it is named."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; is {Path(path).parent} the right folder?") from None
    except (IsADirectoryError, NotADirectoryError):
        raise InputError(f"{path} is not a file; check the path") from None
    except (ValueError, RecursionError) as error:  # ValueError: neither UTF-8, nor JSON, nor a number of sane length
        raise InputError(f"{path} is damaged ({error}); restore it from a copy or make it again") from None


def sha256(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as stream:
        while piece := stream.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()
