"""The names of the data sets, and what stands behind each."""

from collections.abc import Callable
from typing import Any, NamedTuple

from bagwise.bags import Bags
from bagwise.datasets import breast, classic, colon, digits, extra, mnist_bags, needles
from bagwise.datasets.options import check_options
from bagwise.datasets.origins import ORIGINS, Origin
from bagwise.names import choose


class DataSet(NamedTuple):
    """A source of bags; one with splits takes ``split=`` and brings test bags of its own.

    One with an origin lies in the data home once it is fetched; one without is made when it is loaded.
    """

    load: Callable[..., Bags]
    splits: tuple[str, ...]
    title: str
    origin: Origin | None = None


def _fetched(name: str, load: Callable[..., Bags], title: str, splits: tuple[str, ...] = ()) -> DataSet:
    return DataSet(load, splits, title, ORIGINS[name])


CLASSIC = {
    "musk1": "conformations of molecules; positive: smells of musk",
    "musk2": "conformations of molecules, more of them; positive: smells of musk",
    "fox": "regions of photographs; positive: shows a fox",
    "tiger": "regions of photographs; positive: shows a tiger",
    "elephant": "regions of photographs; positive: shows an elephant",
}

DATASETS: dict[str, DataSet] = {
    "digits": DataSet(digits.load, digits.SPLITS, "bags of real 8×8 handwritten digits; positive: holds a nine"),
    "needles": DataSet(needles.load, (), "synthetic bags of noise; positive: holds a few shifted instances"),
    **{name: _fetched(name, classic.loader(name), title) for name, title in CLASSIC.items()},
    "mnist-bags": _fetched(
        "mnist-bags", mnist_bags.load, "bags of MNIST digits; positive: holds a nine", mnist_bags.SPLITS
    ),
    "breast-cancer": _fetched("breast-cancer", breast.load, "32×32 tiles of breast tissue; positive: malignant"),
    "colon-cancer": _fetched("colon-cancer", colon.load, "27×27 patches of nuclei; positive: has epithelial ones"),
    "ucsb-breast": _fetched("ucsb-breast", extra.load_ucsb_breast, "features of breast tissue; positive: malignant"),
    "newsgroups-1": _fetched(
        "newsgroups-1", extra.loader("newsgroups-1"), "posts to newsgroups; positive: holds some on the topic"
    ),
    "brown-creeper": _fetched(
        "brown-creeper", extra.loader("brown-creeper"), "sounds of a wood; positive: a brown creeper sings"
    ),
}


def full_name(name: str) -> str:
    """The name of a data set as the catalogue writes it.

    >>> full_name("MNIST bags")
    'mnist-bags'
    """
    return choose(name, {known: known for known in DATASETS}, "data set")


def load_dataset(name: str, **options: Any) -> Bags:
    """Bags of a data set by its name; the options are those of its loader.

    >>> load_dataset("digits", split="test", n_bags=10).n_bags
    10
    """
    name = full_name(name)
    load = DATASETS[name].load
    check_options(name, load, options)
    return load(**options)
