"""The runs of a viewer: found below a path, listed from their files, and opened on demand."""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.explain import LAYERS, BagLayers, BoundedCache
from bagwise.explain.heatmaps import PictureFolder
from bagwise.figures import is_image_shape
from bagwise.io import MANIFEST, JsonObject, read_json, recover_folder
from bagwise.runs import KIND, OpenRun, Run, find_other_seeds, format_label, is_model_folder, name_method, read_label
from bagwise.viewer.bag_page import FeatureStatistics, compute_feature_statistics, describe_bag, describe_instance
from bagwise.viewer.pictures import RunPictures

MAX_CACHED_RUNS = 4
N_METRICS = 2  # shown beside the name of a run
MAX_DEPTH = 3  # for runs/, finds runs/first, runs/colon/attention and runs/colon/attention/fold-1


class ViewedRun(NamedTuple):
    """A run with its data, layers and pictures."""

    name: str
    open_run: OpenRun
    layers: BagLayers
    pictures: RunPictures


class Session:
    """The runs of one viewer, by index; an index that does not exist raises IndexError.

    Parameters
    ----------
    runs : dict of str to Run
        Runs by the name that the viewer shows.
    slides : Path or None, default=None
        Folder of the slides or images of the bags; None means the images of each run's data.
    """

    def __init__(self, runs: dict[str, Run], slides: Path | None = None) -> None:
        pictures = None if slides is None else PictureFolder.of_folder(slides)
        self._runs = []
        for name, run in runs.items():
            open_run = OpenRun(run)
            viewed = ViewedRun(
                name=name,
                open_run=open_run,
                layers=BagLayers(open_run),
                pictures=RunPictures(open_run, pictures),
            )
            self._runs.append(viewed)
        self._other_seeds = find_other_seeds(list(runs.values()))
        self._statistics = BoundedCache(MAX_CACHED_RUNS, self._compute_statistics)

    def runs(self) -> list[JsonObject]:
        """Describe every run.

        Returns
        -------
        list of dict
            One description per run; see ``describe_run``.
        """
        return [describe_run(number, viewed.name, viewed.open_run.run) for number, viewed in enumerate(self._runs)]

    def bags(self, run: int) -> list[JsonObject]:
        """Describe every test bag of a run.

        Parameters
        ----------
        run : int
            Index of the run.

        Returns
        -------
        list of dict
            One description per bag; see ``list_bags``.
        """
        return list_bags(self._runs[run].open_run.run)

    def get_run(self, run: int, bag: int) -> ViewedRun:
        """Return a run, and check that it has a bag.

        Parameters
        ----------
        run : int
            Index of the run.
        bag : int
            Index of a test bag.

        Returns
        -------
        ViewedRun
            The run.
        """
        viewed = self._runs[run]
        if bag >= len(viewed.open_run.run.predictions):
            raise IndexError(bag)
        return viewed

    def bag(self, run: int, bag: int) -> JsonObject:
        """Describe a test bag.

        Parameters
        ----------
        run : int
            Index of the run.
        bag : int
            Index of the test bag.

        Returns
        -------
        dict
            See ``bagwise.viewer.bag_page.describe_bag``.
        """
        viewed = self.get_run(run, bag)
        picture = viewed.pictures.get_bag_picture(bag)
        return describe_bag(viewed.open_run, viewed.layers, bag, picture, self._get_weights_by_seed(run, bag))

    def instance(self, run: int, bag: int, instance: int) -> JsonObject:
        """Describe an instance of a test bag.

        Parameters
        ----------
        run : int
            Index of the run.
        bag : int
            Index of the test bag.
        instance : int
            Index of the instance within the bag.

        Returns
        -------
        dict
            See ``bagwise.viewer.bag_page.describe_instance``.
        """
        viewed = self.get_run(run, bag)
        if instance >= len(viewed.layers.weights(bag)):
            raise IndexError(instance)
        return describe_instance(
            viewed.open_run,
            viewed.layers,
            bag,
            instance,
            statistics=self._statistics.get(run),
            weights_by_seed=self._get_weights_by_seed(run, bag),
        )

    def preload(self) -> None:
        """Open the data of the first run, so that the first request is fast."""
        _ = self._runs[0].open_run.opened

    def _get_weights_by_seed(self, run: int, bag: int) -> list[np.ndarray]:
        """Return the weights of a bag in this run and in the runs that differ only in their seed."""
        return [self._runs[number].layers.weights(bag) for number in (run, *self._other_seeds[run])]

    def _compute_statistics(self, run: int) -> FeatureStatistics | None:
        bags, _ = self._runs[run].open_run.opened
        if bags is None or is_image_shape(bags.instance_shape):
            return None
        return compute_feature_statistics(bags.view())


def describe_run(number: int, name: str, run: Run) -> JsonObject:
    """Describe a run; runs with the same ``test_bags`` can be compared bag by bag."""
    data, metrics = run.parameters["data"], run.metrics["bags"]
    return {
        "number": number,
        "name": name,
        "data": data["data"],
        "method": name_method(run),
        "outputs": [output.title for output in run.target.outputs],
        "output_kind": run.target.outputs[0].kind,
        "output_word": run.target.output_word,
        "shown_output": run.target.shown_output,
        "layers": [{"name": key, **LAYERS[key]._asdict()} for key in run.target.layers],
        "right_or_wrong": run.target.is_right_or_wrong,
        "metrics_note": run.target.metrics_note,
        "n_bags": len(run.predictions),
        "test_bags": run.manifest.get("test_bags"),
        "metrics": {
            run.target.metrics[name].title: metrics[name]["value"]
            for name in run.target.headline_metrics[:N_METRICS]
            if name in metrics
        },
    }


def list_bags(run: Run) -> list[JsonObject]:
    """Return one description per test bag; outputs are the unchanged text of predictions.csv."""
    target = run.target
    shown = target.find_shown_outputs(
        target.encode_names([read_label(row, "predicted") for row in run.predictions])
    ).tolist()
    return [
        {
            "number": number,
            "name": row["bag"],
            "group": row.get("group"),
            "label": format_label(row),
            "predicted": format_label(row, "predicted"),
            "correct": read_label(row) == read_label(row, "predicted") if target.is_right_or_wrong else None,
            "outputs": [row[output.name] for output in target.outputs],
            "shown": shown[number],
            "n_instances": int(row["n_instances"]),
        }
        for number, row in enumerate(run.predictions)
    ]


def open_runs(path: Path) -> dict[str, Run]:
    """Open the runs at or below a path.

    Parameters
    ----------
    path : Path
        Folder of a run, folder of runs, or report of a run.

    Returns
    -------
    dict of str to Run
        Runs by the name that the viewer shows, sorted by name.

    Raises
    ------
    InputError
        If there is no finished run.
    """
    recover_folder(path)
    folder = path.parent if path.is_file() and path.suffix.lower() == ".html" else path
    if not folder.is_dir():
        raise InputError(f"{path} is neither a folder nor a report; give the folder of a run, or a folder of runs")
    if (
        _is_run(folder) or (folder / "parameters.json").exists() or is_model_folder(folder)
    ):  # Run reports what is missing
        return {folder.resolve().name: Run(folder)}
    found, problems = _open_below(folder)
    if not found:
        none = f"{folder} contains no finished run; train one with: bagwise train digits runs/first"
        raise InputError(problems[0] if problems else none)
    for problem in problems:
        warnings.warn(f"run skipped: {problem}", stacklevel=2)
    return found


def _open_below(folder: Path) -> tuple[dict[str, Run], list[str]]:
    """Return the runs below a folder, and the problems of those that cannot be opened."""
    found, problems = {}, []
    for below in _find_manifests(folder):
        try:
            if _is_run(below):
                found[below.relative_to(folder).as_posix()] = Run(below)
        except InputError as error:
            problems.append(str(error))
    return found, problems


def _find_manifests(folder: Path) -> list[Path]:
    """Return the folders below a folder that have a manifest."""
    patterns = ("/".join(["*"] * depth + [MANIFEST]) for depth in range(1, MAX_DEPTH + 1))
    return sorted(manifest.parent for pattern in patterns for manifest in folder.glob(pattern))


def _is_run(folder: Path) -> bool:
    if not (folder / MANIFEST).is_file():
        return False
    manifest = read_json(folder / MANIFEST)
    return isinstance(manifest, dict) and manifest.get("kind") == KIND
