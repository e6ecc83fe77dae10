"""Feature extraction: tiles → one feature file per slide → one folder of bags.

    tiles/features-NAME/SLIDE.FINGERPRINT.npy     (tiles, features) float16, or (tiles, size, size, 3) uint8 pixels

The fingerprint identifies the tiles: if a slide is tiled again, its features are extracted again. Files are written
atomically, and any number of processes may share the folder (``parallel.process_units``). Other processes receive the
name of an extractor and a function that builds it, not its weights (``DeferredExtractor``).
"""

import functools
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags import BagWriter
from bagwise.data.slides.bag_labels import BagLabel
from bagwise.data.slides.slide import Slide
from bagwise.data.slides.tile_files import TileFile, check_bags_folder, list_tiles, split_into_regions
from bagwise.errors import InputError
from bagwise.io import EFFICIENTNET_LITE, PIXELS, check_disk_space, write_npy_header
from bagwise.parallel import DaskCluster, WorkUnit, check_files_visible, process_units

BatchProgress = Callable[[str, int, int], None]  # name of the slide, number of tiles done, number of tiles


@runtime_checkable
class TileEncoder(Protocol):
    """An object with a name that computes the features of tiles, such as an ``Extractor``."""

    @property
    def name(self) -> str: ...

    def features(self, tiles: np.ndarray) -> np.ndarray:
        """Compute features of shape (n, features), as float16, from tiles of shape (n, size, size, 3), as uint8."""


class DeferredExtractor(NamedTuple):
    """An extractor that each process builds once, when it is first used.

    Attributes
    ----------
    name : str
        The name of the extractor.
    build : callable
        ``build(*arguments)`` returns the extractor. It must be a module-level function, so that other processes can
        import it.
    arguments : tuple
        The arguments of ``build``.
    """

    name: str
    build: Callable[..., TileEncoder]
    arguments: tuple[Hashable, ...] = ()

    def load(self) -> TileEncoder:
        """Return the extractor; it is built on the first call in this process."""
        return _build_once(self.build, self.arguments)

    def features(self, tiles: np.ndarray) -> np.ndarray:
        """Compute features of shape (n, features), as float16, from tiles of shape (n, size, size, 3), as uint8."""
        return self.load().features(tiles)


@functools.cache
def _build_once(build: Callable[..., TileEncoder], arguments: tuple[Hashable, ...]) -> TileEncoder:
    return build(*arguments)


def get_extractor_name(encoder: str) -> str | None:
    """Return the name that is stored with the features of an encoder, without building the encoder.

    Parameters
    ----------
    encoder : str
        ``"pixels"``, ``"efficientnet-lite0"``, or the name of a timm model.

    Returns
    -------
    str or None
        None for ``"pixels"``.

    Examples
    --------
    >>> get_extractor_name("EfficientNet_Lite0"), get_extractor_name("Pixels")
    ('efficientnet-lite0', None)
    """
    if canonicalize_name(encoder) == canonicalize_name(PIXELS):
        return None
    return EFFICIENTNET_LITE if canonicalize_name(encoder) == canonicalize_name(EFFICIENTNET_LITE) else encoder


class Extraction(NamedTuple):
    """Names of slides by the outcome of their extraction.

    Attributes
    ----------
    done : list of str
        Slides that were extracted by this call.
    skipped : list of str
        Slides that were already extracted.
    empty : list of str
        Slides without tiles.
    elsewhere : dict of str to str
        Slides that another process is extracting, with a description of that process.
    bad : dict of str to str
        Slides that could not be extracted, with the reason.
    """

    done: list[str]
    skipped: list[str]
    empty: list[str]
    elsewhere: dict[str, str]
    bad: dict[str, str]


def extract_features(
    tiles: str | Path,
    extractor: TileEncoder | None,
    slides: Path | None = None,
    batch_size: int = 64,
    skip_bad: bool = False,
    watch: BatchProgress = lambda name, done, total: None,
    *,
    workers: int | DaskCluster = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Extraction:
    """Extract the features of the tiles of all slides.

    Slides that were extracted before, or that another process is extracting, are skipped.

    Parameters
    ----------
    tiles : str or Path
        A folder that ``bagwise tile`` wrote.
    extractor : TileEncoder or None
        The extractor; None stores the pixels of the tiles. With several workers, pass a ``DeferredExtractor``,
        because the weights of any other extractor are sent to the workers with each slide.
    slides : Path or None, default=None
        The folder of the slides; None uses the paths at which the slides were tiled.
    batch_size : int, default=64
        Number of tiles per batch.
    skip_bad : bool, default=False
        Whether to continue after a slide that cannot be read, instead of raising an error.
    watch : callable, optional
        ``watch(name, done, total)`` is called after every batch with the name of the slide, the number of tiles done
        and the number of tiles; only if ``workers`` is 1.
    workers : int or DaskCluster, default=1
        Number of processes on this machine, or a Dask cluster whose workers can access the tiles and the slides.
    progress : callable, optional
        ``progress(done, total)`` is called after every slide with the number of slides done and the total.

    Returns
    -------
    Extraction

    Raises
    ------
    InputError
        If the extractor cannot be built, or a slide cannot be read and ``skip_bad`` is False.
    """
    if batch_size < 1:
        raise InputError(f"batch size must be at least 1, got {batch_size}; pass e.g. --batch-size 64")
    if isinstance(workers, DaskCluster):  # the workers have other working directories
        tiles, slides = Path(tiles).absolute(), None if slides is None else slides.absolute()
    entries = list_tiles(tiles)
    units = [
        WorkUnit(entry.name, get_feature_file(entry, extractor), entry) for entry in entries if len(entry.positions)
    ]
    write = partial(_write_features, extractor, slides, batch_size, watch if workers == 1 else _ignore_batches)
    ready = partial(_prepare_worker, Path(tiles), extractor)
    found = process_units(units, write, workers, skip_bad=skip_bad, ready=ready, progress=progress)
    if found.bad and not skip_bad:
        raise InputError(next(iter(found.bad.values())))
    return Extraction(empty=[entry.name for entry in entries if not len(entry.positions)], **found._asdict())


def get_feature_file(entry: TileFile, extractor: TileEncoder | None) -> Path:
    """Return the path of the feature file of a slide, in a folder beside its tile file."""
    name = PIXELS if extractor is None else "".join(c if c.isalnum() or c in "-_." else "-" for c in extractor.name)
    return entry.path.parent / f"features-{name}" / f"{entry.name}.{entry.fingerprint}.npy"


def _prepare_worker(tiles: Path, extractor: TileEncoder | None) -> None:
    """Build the extractor before the first slide, so that its errors are not attributed to a slide."""
    check_files_visible(tiles)
    if isinstance(extractor, DeferredExtractor):
        extractor.load()


def _ignore_batches(name: str, done: int, total: int) -> None:
    """Ignore the progress of a batch; used in worker processes, whose batches are not reported."""


def _write_features(
    extractor: TileEncoder | None,
    slides: Path | None,
    batch_size: int,
    watch: BatchProgress,
    unit: WorkUnit,
    stream: BinaryIO,
) -> None:
    """Write the features batch by batch, so that a slide need not fit in memory."""
    entry: TileFile = unit.of
    path, total = _find_slide(entry, slides), len(entry.positions)
    with Slide(path) as slide:
        if (slide.width, slide.height) != (entry.width, entry.height):
            raise InputError(
                f"{path} has {slide.width}×{slide.height} pixels, but {entry.path} was made from a slide of "
                f"{entry.width}×{entry.height}; pass the folder of that slide with --slides FOLDER, or run bagwise "
                "tile again"
            )
        for start in range(0, total, batch_size):
            corners = entry.positions[start : start + batch_size].tolist()
            batch = np.stack([slide.read(x, y, entry.extent, entry.size) for x, y in corners])
            values = batch if extractor is None else extractor.features(batch)
            if start == 0:
                check_disk_space(unit.target, total * values[0].nbytes)
                write_npy_header(stream, (total, *values.shape[1:]), values.dtype)
            stream.write(np.ascontiguousarray(values).data)
            watch(entry.name, start + len(values), total)


def _find_slide(entry: TileFile, slides: Path | None) -> Path:
    if slides is None:
        return entry.slide
    found = [slides] if slides.is_file() else sorted(slides.rglob(entry.slide.name))
    if not found:
        raise InputError(
            f"{slides} does not contain {entry.slide.name}; pass the folder of the slides with --slides FOLDER"
        )
    return found[0]


def pack_features(
    tiles: str | Path,
    folder: str | Path,
    extractor: TileEncoder | None,
    labels: dict[str, BagLabel] | None = None,
    leave_out: tuple[str, ...] = (),
    side: int | None = None,
) -> int:
    """Pack the extracted features into a folder of bags.

    Parameters
    ----------
    tiles : str or Path
        A folder that ``bagwise tile`` wrote, with the features of all slides.
    folder : str or Path
        The folder of bags to write.
    extractor : TileEncoder or None
        The extractor of the features; None for pixels.
    labels : dict of str to BagLabel or None, default=None
        The labels of the bags; bags without one are left out. None writes all bags, without labels.
    leave_out : tuple of str, default=()
        Names of slides to leave out.
    side : int or None, default=None
        Side of the regions that become bags, in level-0 pixels; None makes each slide a bag.

    Returns
    -------
    int
        The number of bags.

    Raises
    ------
    InputError
        If no bag remains, or a feature file is missing or damaged.
    """
    check_bags_folder(Path(folder))
    slides = [entry for entry in list_tiles(tiles) if entry.name not in leave_out]
    bags = [(entry, region) for entry in slides if len(entry.positions) for region in split_into_regions(entry, side)]
    if labels is not None:
        bags = [(entry, region) for entry, region in bags if region.name in labels]
    if not bags:
        raise InputError(
            f"{tiles}: no slide with tiles is left to pack; check the tiles, and the slide_id column of the labels"
        )
    has_slide_groups = side is not None and len({entry.name for entry, _ in bags}) > 1
    blank = [entry.name for entry in slides if not len(entry.positions)]
    with BagWriter(folder, None if extractor is None else extractor.name) as writer:
        writer.empty = [name for name in blank if labels is None or name in labels]
        for entry, (name, rows) in bags:
            features = _open_features(get_feature_file(entry, extractor), len(entry.positions))
            label = None if labels is None else labels[name]
            metadata = _get_metadata(label, entry.name if has_slide_groups else None)
            writer.add(features[rows], positions=entry.positions[rows], name=name, tile_size=entry.extent, **metadata)
    return len(bags)


def _open_features(path: Path, n_tiles: int) -> np.ndarray:
    if not path.exists():
        raise InputError(f"{path} does not exist; run bagwise extract again")
    try:
        features = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # NumPy parses the header as a Python literal, which can raise many kinds of errors
        raise InputError(f"{path} is damaged ({error}); remove it and run bagwise extract again") from None
    if len(features) != n_tiles:
        raise InputError(
            f"{path} has {len(features)} rows for {n_tiles} tiles; remove it and run bagwise extract again"
        )
    return features


def _get_metadata(label: BagLabel | None, slide: str | None) -> dict[str, Any]:
    """Return the label and the group of a bag; if the labels have no group, the slide is the group of its regions."""
    group = slide if label is None or label.group is None else label.group
    metadata = {"label": None if label is None else label.label, "group": group}
    return {name: value for name, value in metadata.items() if value is not None}
