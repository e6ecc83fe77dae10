"""Where the picture of a bag lies: in a folder of slides or images, or among the files of a data set.

A bag's name is never made part of a path. The files are listed, and the name is looked for among theirs: the path in
the folder, the same without its suffix, the file's name, or that without its suffix; the first way that fits decides.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from bagwise.datasets.home import locate
from bagwise.errors import InputError
from bagwise.names import choose
from bagwise.slides import images, slide

SUFFIXES = frozenset((*slide.SUFFIXES, *images.SUFFIXES))
DATASETS = {"colon-cancer": "colon-cancer", "breast-cancer": "breast-cancer"}  # those whose bags are images


class Pictures:
    """Picture files by their names.

    files : each file's path in the folder, with / between its parts, and the file
    source : what was looked through, for messages
    """

    def __init__(self, files: Mapping[str, Path], source: str) -> None:
        self.files = dict(files)
        self.source = source

    @classmethod
    def of_folder(cls, folder: str | Path) -> "Pictures":
        """The slides and images below a folder; links that lead out of it are passed over."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder; give the one with the slides or images")
        found = {
            file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if _shown(file, folder)
        }
        return cls(found, str(folder))

    @classmethod
    def of_dataset(cls, name: str) -> "Pictures":
        """The images of a data set whose bags are images."""
        name = choose(name, DATASETS, "data set of images")
        files = {key: path for key, path in locate(name).items() if path.suffix.lower() in SUFFIXES}
        return cls({f"{PurePosixPath(key).name}{path.suffix}": path for key, path in files.items()}, name)

    def find(self, name: str) -> Path | None:
        """The picture of the bag of this name, or of the slide that the bag is a region of; None if there is none."""
        found = self._named(name) or self._named(name.rpartition("@")[0])  # NAME@X-Y is a square of the slide NAME
        if len(found) > 1:
            some = ", ".join(found[:3])
            raise InputError(f"{self.source} holds several pictures of bag '{name}': {some}; leave one, or rename them")
        return self.files[found[0]] if found else None

    def get(self, name: str) -> Path:
        """The picture of a bag, which must be there."""
        found = self.find(name)
        if found is None:
            raise InputError(
                f"{self.source} holds no picture of bag '{name}' among its {len(self.files)}; "
                "give the folder where the file of this name lies"
            )
        return found

    def _named(self, name: str) -> list[str]:
        """The files that a name fits, by the first way in which it fits any."""
        for of in (str, _without_suffix, _last, lambda path: _last(_without_suffix(path))):
            found = [path for path in self.files if of(path) == name]
            if found:
                return found
        return []


def _shown(file: Path, folder: Path) -> bool:
    """A picture by its suffix, not hidden, and truly in the folder."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    inside = file.is_file() and file.resolve().is_relative_to(folder.resolve())
    return file.suffix.lower() in SUFFIXES and not hidden and inside


def _without_suffix(path: str) -> str:
    return PurePosixPath(path).with_suffix("").as_posix()


def _last(path: str) -> str:
    return PurePosixPath(path).name
