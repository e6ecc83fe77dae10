"""The picture of a bag, found by the name of the bag in a folder of slides or images, or in a data set.

The name of a bag is never used as part of a path. Instead, the files are listed, and the name is compared with the path
in the folder, the path without suffix, the file name, and the file name without suffix; the first rule with a match is
used.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from bagwise.arguments import choose_by_name
from bagwise.data.datasets import locate_files
from bagwise.data.slides import IMAGE_SUFFIXES, SLIDE_SUFFIXES
from bagwise.errors import InputError

SUFFIXES = frozenset((*SLIDE_SUFFIXES, *IMAGE_SUFFIXES))
DATASETS = {"colon-cancer": "colon-cancer", "breast-cancer": "breast-cancer"}  # data sets whose bags are images


class PictureFolder:
    """The picture files of a folder or data set, by name.

    Parameters
    ----------
    files : mapping of str to Path
        Files by their path in the folder, with / as separator.
    source : str
        Name of the folder or data set, for error messages.
    """

    def __init__(self, files: Mapping[str, Path], source: str) -> None:
        self.files = dict(files)
        self.source = source

    @classmethod
    def of_folder(cls, folder: str | Path) -> "PictureFolder":
        """Return the slides and images of a folder and its subfolders; links to files outside are ignored.

        Parameters
        ----------
        folder : str or Path
            The folder.

        Returns
        -------
        PictureFolder

        Raises
        ------
        InputError
            If the folder does not exist.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder; give the folder of the slides or images")
        files = sorted(folder.rglob("*"))
        return cls(
            {file.relative_to(folder).as_posix(): file for file in files if _is_picture(file, folder)}, str(folder)
        )

    @classmethod
    def of_dataset(cls, name: str) -> "PictureFolder":
        """Return the images of a data set whose bags are images.

        Parameters
        ----------
        name : {"colon-cancer", "breast-cancer"}
            Name of the data set.

        Returns
        -------
        PictureFolder
        """
        name = choose_by_name(name, DATASETS, "image data set")
        files = {key: path for key, path in locate_files(name).items() if path.suffix.lower() in SUFFIXES}
        return cls({f"{PurePosixPath(key).name}{path.suffix}": path for key, path in files.items()}, name)

    def find(self, name: str) -> Path | None:
        """Find the picture of a bag, or of the slide if the bag is a region of a slide.

        Parameters
        ----------
        name : str
            Name of the bag.

        Returns
        -------
        Path or None
            None if there is no picture.

        Raises
        ------
        InputError
            If there are several pictures.
        """
        found = self._match(name) or self._match(name.rpartition("@")[0])  # NAME@X-Y is a square of the slide NAME
        if len(found) > 1:
            some = ", ".join(found[:3])
            raise InputError(
                f"{self.source} contains several pictures of bag '{name}': {some}; keep one, or rename the others"
            )
        return self.files[found[0]] if found else None

    def get(self, name: str) -> Path:
        """Return the picture of a bag, like ``find``, but raise an error if there is none.

        Parameters
        ----------
        name : str
            Name of the bag.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If there are no pictures or several.
        """
        found = self.find(name)
        if found is None:
            raise InputError(
                f"{self.source} contains no picture of bag '{name}' among its {len(self.files)} pictures; "
                "give the folder that contains it with --slides FOLDER"
            )
        return found

    def _match(self, name: str) -> list[str]:
        """Return the files that match a name under the first rule with a match."""
        for key in (str, _without_suffix, _file_name, lambda path: _file_name(_without_suffix(path))):
            found = [path for path in self.files if key(path) == name]
            if found:
                return found
        return []


def _is_picture(file: Path, folder: Path) -> bool:
    """Return whether a file has a picture suffix, is not hidden, and is inside the folder after resolving links."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    inside = file.is_file() and file.resolve().is_relative_to(folder.resolve())
    return file.suffix.lower() in SUFFIXES and not hidden and inside


def _without_suffix(path: str) -> str:
    return PurePosixPath(path).with_suffix("").as_posix()


def _file_name(path: str) -> str:
    return PurePosixPath(path).name
