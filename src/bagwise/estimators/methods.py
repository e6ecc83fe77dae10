"""The methods that are one estimator each, under their names in the literature, and the resolution of names.

In names, spaces, hyphens, underscores and plus signs are equivalent, and case is ignored. One exception: case
distinguishes mi-SVM (instances) from MI-SVM (bags), and mi-Net from MI-Net, so in names that start with "mi" the case
of these two letters matters. Of these, names in lower case without a hyphen, such as "misvm", are ambiguous.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.base import clone

from bagwise.arguments import canonicalize_name, suggest_name
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.em_dd import EMDD
from bagwise.estimators.classical.majority import MajorityClassifier
from bagwise.estimators.classical.mi_fv import MiFV
from bagwise.estimators.classical.mi_graph import MiGraph
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_svm import MISVM, MiSVM
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier

# one network of all training bags, trained to the last epoch; nothing is held out, clipped or calibrated
PAPER: dict[str, Any] = {
    "scaling": "standard",
    "validation": None,
    "patience": None,
    "calibration": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": PAPER,
    # gated attention on augmented images, parameters averaged over the second half of the epochs: chosen for few bags
    # of images, without test bags
    "bagwise": {
        "pooling": "gated attention",
        "augmentation": "auto",
        "averaging": 0.5,
        **PAPER,
    },
}
CASE_SENSITIVE_PREFIX = "mi"


class Method(NamedTuple):
    """An estimator class with the parameters that define the method.

    Parameters
    ----------
    kind : type
        A subclass of ``BagEstimator``.
    parameters : dict
        The parameters that are fixed; parameters of a wrapped estimator have nested names, such as
        ``estimator__epochs``.
    reference : str
        The publication, or a short description.
    """

    kind: type[BagEstimator]
    parameters: dict[str, Any]
    reference: str

    def build(self) -> BagEstimator:
        """Build the estimator of the method, not fitted."""
        return self.kind().set_params(**{key: clone(value, safe=False) for key, value in self.parameters.items()})


def make_network_method(reference: str = "Ilse et al. 2018", **parameters: Any) -> Method:
    """Return a method that is a network with some fixed parameters."""
    return Method(BagClassifier, parameters, reference)


SINGLE_METHODS: dict[str, Method] = {
    "mi-SVM": Method(MiSVM, {}, "Andrews et al. 2003"),
    "MI-SVM": Method(MISVM, {}, "Andrews et al. 2003"),
    "MI-Kernel": Method(MIKernel, {}, "Gärtner et al. 2002"),
    "minimax kernel": Method(MinimaxKernel, {}, "Gärtner et al. 2002"),
    "EM-DD": Method(EMDD, {}, "Zhang & Goldman 2002"),
    "mi-Graph": Method(MiGraph, {}, "Zhou et al. 2009"),
    "miVLAD": Method(MiVLAD, {}, "Wei et al. 2017"),
    "miFV": Method(MiFV, {}, "Wei et al. 2017"),
    "mi-Net": make_network_method("Wang et al. 2018", pooling="max", level="instance"),
    "MI-Net": make_network_method("Wang et al. 2018", pooling="max"),
    "MI-Net with DS": make_network_method("Wang et al. 2018", pooling="max", connections="deep supervision"),
    "MI-Net with RC": make_network_method("Wang et al. 2018", pooling="max", connections="residual"),
    "attention": make_network_method(pooling="attention"),
    "gated attention": make_network_method(pooling="gated attention"),
    "instance+max": make_network_method(pooling="max", level="instance"),
    "instance+mean": make_network_method(pooling="mean", level="instance"),
    "embedding+max": make_network_method(pooling="max"),
    "embedding+mean": make_network_method(pooling="mean"),
    "bagwise": make_network_method("gated attention, augmented and averaged", **PRESETS["bagwise"]),
    "extra trees": Method(PooledClassifier, {}, "Geurts et al. 2006, on mean, min and max of each bag"),
    "naive": Method(NaiveClassifier, {}, "every instance with its bag's label"),
    "majority": Method(MajorityClassifier, {}, "the class shares of the training bags for every bag"),
}


def resolve_name(typed: str, methods: Mapping[str, Method]) -> str:
    """Return the canonical name of a method of a table.

    Parameters
    ----------
    typed : str
        The name in any accepted spelling.
    methods : mapping of str to Method
        The methods to choose from.

    Returns
    -------
    str
        A key of ``methods``.

    Raises
    ------
    InputError
        If there is no such method, or the name is ambiguous; the message suggests similar names.

    Examples
    --------
    >>> resolve_name("Gated-Attention", SINGLE_METHODS)
    'gated attention'
    """
    name_by_key = {_make_key(name): name for name in methods}
    found = name_by_key.get(_make_key(typed))
    variants = [name for name in methods if _join_letters(name) == _join_letters(typed)]
    if len(variants) > 1 and typed.islower() and "-" not in typed:
        raise InputError(f"method '{typed}' is ambiguous: it could be {' or '.join(variants)}; write one of these")
    if found is None:
        hint = f"write {' or '.join(variants)}" if variants else suggest_name(typed, methods)
        raise InputError(f"method '{typed}' is unknown; {hint}")
    return found


def _make_key(name: str) -> tuple[str, str]:
    """Return the key by which names are compared: an initial "mi" with its case, and the name without case."""
    letters = _join_letters(name)
    prefix = name.strip()[: len(CASE_SENSITIVE_PREFIX)]
    return (prefix if prefix.lower() == CASE_SENSITIVE_PREFIX else "", letters)


def _join_letters(name: str) -> str:
    """Return a name in lower case, without separators."""
    return canonicalize_name(name.replace("+", " ")).replace(" ", "")
