"""Finding the files of a data set in a folder of the user's, laid out as the data home or any other way."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bagwise.datasets.home import listed
from bagwise.datasets.origins import Origin
from bagwise.datasets.parts import Part
from bagwise.errors import InputError


def find_all(parts: list[Part], origin: Origin, folder: Path) -> dict[str, Path]:
    """The right file for each part, by its key; the missing and the wrong ones are refused together, by name."""
    by_name = _files_by_name(folder)
    found: dict[str, Path] = {}
    missing, wrong = [], []
    for part in parts:
        candidates = list(_candidates(part, origin, folder, by_name))
        right = next((file for file in candidates if part.fits(file)), None)
        if right is not None:
            found[part.key] = right
        elif candidates:
            wrong.append(part.refusal(candidates[0], str(candidates[0])))
        else:
            missing.append(" or ".join(PurePosixPath(path).name for path in part.forms))
    if wrong:
        raise InputError(f"{'; '.join(wrong[:3])}; take the files of the public origin: {origin.page}")
    if missing:
        raise InputError(
            f"{folder} is not all of {origin.name}: {listed(missing)} missing; get {origin.name} from: {origin.page}"
        )
    return found


def _candidates(part: Part, origin: Origin, folder: Path, by_name: dict[str, list[Path]]) -> Iterator[Path]:
    """Files that may be this part: at its own path first, then by its name, then by its name at the public origin."""
    for path in part.paths:
        if (folder / path).is_file():
            yield folder / path
    for path in part.paths:
        yield from by_name.get(PurePosixPath(path).name, [])
    if origin.address and "{name}" not in origin.address:  # it may have another name there
        yield from by_name.get(PurePosixPath(origin.address).name, [])


def _files_by_name(folder: Path) -> dict[str, list[Path]]:
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not a folder; pass the folder that holds the files, or an address with http(s)://"
        )
    by_name = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            by_name[file.name].append(file)
    return by_name
