"""Where the picture of a run's bag lies: in a folder that someone names, else where the run's data are images."""

from pathlib import Path

from bagwise.explain.heatmaps import Ground, Pictures, open_ground
from bagwise.explain.heatmaps.pictures import DATASETS
from bagwise.files import MANIFEST
from bagwise.names import canonical
from bagwise.runs import Run


def pictures_of(run: Run) -> Pictures | None:
    """The pictures of a run's bags, where its data are images."""
    data = run.parameters["data"]["data"]
    if data in map(canonical, DATASETS):
        return Pictures.of_dataset(data)
    is_images = Path(data).is_dir() and not (Path(data) / MANIFEST).exists()
    return Pictures.of_folder(data) if is_images else None


def open_picture(run: Run, bag: str, slides: Path | None = None) -> Ground | None:
    """The picture of a bag; None if there is none, which is refused where a folder was named."""
    if slides is not None:
        return open_ground(Pictures.of_folder(slides).get(bag))
    own = pictures_of(run)
    path = None if own is None else own.find(bag)
    return None if path is None else open_ground(path)
