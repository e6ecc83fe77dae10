"""The picture of a bag, found by its name in a folder of slides or images, or among the files of a dataset.

A bag's name is never made part of a path. Instead, the files are listed and the name is compared with the path in the
folder, the path without suffix, the file name, and the file name without suffix; the first rule that matches decides.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from bagwise.arguments import choose_by_name
from bagwise.data.datasets import locate_files
from bagwise.data.slides import IMAGE_SUFFIXES, SLIDE_SUFFIXES
from bagwise.errors import InputError

SUFFIXES = frozenset((*SLIDE_SUFFIXES, *IMAGE_SUFFIXES))
DATASETS = {"colon-cancer": "colon-cancer", "breast-cancer": "breast-cancer"}  # datasets whose bags are images


class PictureFolder:
    """Picture files by name.

    Parameters
    ----------
    files : mapping of str to Path
        Files by their path in the folder, with / as separator.
    source : str
        Name of the folder or dataset, for messages.
    """

    def __init__(self, files: Mapping[str, Path], source: str) -> None:
        self.files = dict(files)
        self.source = source

    @classmethod
    def of_folder(cls, folder: str | Path) -> "PictureFolder":
        """List the slides and images in a folder and below; links that lead out of it are ignored."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder; give the folder of the slides or images")
        files = sorted(folder.rglob("*"))
        return cls(
            {file.relative_to(folder).as_posix(): file for file in files if _is_picture(file, folder)}, str(folder)
        )

    @classmethod
    def of_dataset(cls, name: str) -> "PictureFolder":
        """List the images of a dataset whose bags are images."""
        name = choose_by_name(name, DATASETS, "image dataset")
        files = {key: path for key, path in locate_files(name).items() if path.suffix.lower() in SUFFIXES}
        return cls({f"{PurePosixPath(key).name}{path.suffix}": path for key, path in files.items()}, name)

    def find(self, name: str) -> Path | None:
        """Return the picture of a bag, or of the slide that the bag is a region of; None if there is none."""
        found = self._match(name) or self._match(name.rpartition("@")[0])  # NAME@X-Y is a square of the slide NAME
        if len(found) > 1:
            some = ", ".join(found[:3])
            raise InputError(
                f"{self.source} contains several pictures of bag '{name}': {some}; keep one, or rename the others"
            )
        return self.files[found[0]] if found else None

    def get(self, name: str) -> Path:
        """Return the picture of a bag; raise InputError if there is none."""
        found = self.find(name)
        if found is None:
            raise InputError(
                f"{self.source} contains no picture of bag '{name}' among its {len(self.files)} pictures; "
                "give the folder that contains it with --slides FOLDER"
            )
        return found

    def _match(self, name: str) -> list[str]:
        """Return the files that match a name by the first rule that matches any."""
        for key in (str, _without_suffix, _file_name, lambda path: _file_name(_without_suffix(path))):
            found = [path for path in self.files if key(path) == name]
            if found:
                return found
        return []


def _is_picture(file: Path, folder: Path) -> bool:
    """Return whether a file has a picture suffix, is not hidden, and is really inside the folder."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    inside = file.is_file() and file.resolve().is_relative_to(folder.resolve())
    return file.suffix.lower() in SUFFIXES and not hidden and inside


def _without_suffix(path: str) -> str:
    return PurePosixPath(path).with_suffix("").as_posix()


def _file_name(path: str) -> str:
    return PurePosixPath(path).name
