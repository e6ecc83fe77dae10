"""Presets, and the registry of methods under their names in the literature.

The registry contains the methods of the paper's tables, the methods of bagwise, combinations of methods, and two simple
baselines, "extra trees" and "naive".

In names, spaces, hyphens, underscores and plus signs are equivalent, and case is ignored. One exception: case
distinguishes mi-SVM (instances) from MI-SVM (bags), and mi-Net from MI-Net, so in names that start with "mi" the case
of these two letters matters. Of these, names in lower case without a hyphen, such as "misvm", are ambiguous.
"""

from typing import Any, NamedTuple

from sklearn.base import clone

from bagwise.arguments import canonicalize_name, choose_by_name, suggest_name
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
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.super_learner import SuperLearner

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


def get_preset(name: str) -> dict[str, Any]:
    """Return a named set of parameters for ``BagClassifier``.

    Parameters
    ----------
    name : str
        A key of ``PRESETS``: "paper" (one network, trained on all bags to the last epoch, without clipping and
        calibration), or "bagwise" (the same with gated attention, augmented images, and parameters averaged over the
        second half of the epochs).

    Returns
    -------
    dict
        The parameters; a copy, which may be changed.

    Examples
    --------
    >>> from bagwise.estimators import BagClassifier
    >>> BagClassifier(**get_preset("bagwise"), epochs=80)
    BagClassifier(augmentation='auto', averaging=0.5, calibration=False, epochs=80, patience=None, scaling='standard',
                  validation=None)
    """
    return dict(choose_by_name(name, PRESETS, "preset"))


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


def _make_network(reference: str = "Ilse et al. 2018", **parameters: Any) -> Method:
    return Method(BagClassifier, parameters, reference)


def _make_ensemble(reference: str, n: int, **parameters: Any) -> Method:
    nested = {f"estimator__{name}": value for name, value in parameters.items()}
    return Method(Ensemble, {"estimator": BagClassifier(), "n": n, **nested}, reference)


METHODS: dict[str, Method] = {
    "mi-SVM": Method(MiSVM, {}, "Andrews et al. 2003"),
    "MI-SVM": Method(MISVM, {}, "Andrews et al. 2003"),
    "MI-Kernel": Method(MIKernel, {}, "Gärtner et al. 2002"),
    "minimax kernel": Method(MinimaxKernel, {}, "Gärtner et al. 2002"),
    "EM-DD": Method(EMDD, {}, "Zhang & Goldman 2002"),
    "mi-Graph": Method(MiGraph, {}, "Zhou et al. 2009"),
    "miVLAD": Method(MiVLAD, {}, "Wei et al. 2017"),
    "miFV": Method(MiFV, {}, "Wei et al. 2017"),
    "mi-Net": _make_network("Wang et al. 2018", pooling="max", level="instance"),
    "MI-Net": _make_network("Wang et al. 2018", pooling="max"),
    "MI-Net with DS": _make_network("Wang et al. 2018", pooling="max", connections="deep supervision"),
    "MI-Net with RC": _make_network("Wang et al. 2018", pooling="max", connections="residual"),
    "attention": _make_network(pooling="attention"),
    "gated attention": _make_network(pooling="gated attention"),
    "instance+max": _make_network(pooling="max", level="instance"),
    "instance+mean": _make_network(pooling="mean", level="instance"),
    "embedding+max": _make_network(pooling="max"),
    "embedding+mean": _make_network(pooling="mean"),
    "bagwise": _make_network("gated attention, augmented and averaged", **PRESETS["bagwise"]),
    "bagwise ensemble": _make_ensemble("three networks of bagwise with different seeds", 3, **PRESETS["bagwise"]),
    "committee": Method(Committee, {}, "the average of methods of several families"),
    "super learner": Method(SuperLearner, {}, "van der Laan et al. 2007, over nine of these methods"),
    "extra trees": Method(PooledClassifier, {}, "Geurts et al. 2006, on mean, min and max of each bag"),
    "naive": Method(NaiveClassifier, {}, "every instance with its bag's label"),
    "majority": Method(MajorityClassifier, {}, "the class shares of the training bags for every bag"),
}


def resolve_method_name(typed: str) -> str:
    """Return the canonical name of a method.

    Parameters
    ----------
    typed : str
        The name in any accepted spelling.

    Returns
    -------
    str
        A key of ``METHODS``.

    Raises
    ------
    InputError
        If there is no such method, or the name is ambiguous; the message suggests similar names.

    Examples
    --------
    >>> resolve_method_name("MI_svm"), resolve_method_name("mi-svm"), resolve_method_name("Gated-Attention")
    ('MI-SVM', 'mi-SVM', 'gated attention')
    """
    name_by_key = {_make_key(name): name for name in METHODS}
    found = name_by_key.get(_make_key(typed))
    variants = [name for name in METHODS if _join_letters(name) == _join_letters(typed)]
    if len(variants) > 1 and typed.islower() and "-" not in typed:
        raise InputError(f"method '{typed}' is ambiguous: it could be {' or '.join(variants)}; write one of these")
    if found is None:
        hint = f"write {' or '.join(variants)}" if variants else suggest_name(typed, METHODS)
        raise InputError(f"method '{typed}' is unknown; {hint}")
    return found


def build_method(typed: str, **parameters: Any) -> BagEstimator:
    """Build the estimator of a method.

    Parameters
    ----------
    typed : str
        The name of the method in any accepted spelling.
    **parameters
        Parameters of the estimator, except those that the method fixes.

    Returns
    -------
    BagEstimator
        The estimator, not fitted.

    Raises
    ------
    InputError
        If the method or a parameter is unknown, or if the method fixes the parameter.

    Examples
    --------
    >>> build_method("mi-Graph", C=5.0)
    MiGraph(C=5.0)
    >>> build_method("bagwise ensemble", estimator__epochs=30).estimator.epochs
    30
    """
    estimator, free = _build_with_defaults(resolve_method_name(typed))
    for key in parameters:
        if key not in free:
            raise InputError(f"{resolve_method_name(typed)} has no parameter '{key}'; {suggest_name(key, free)}")
    return estimator.set_params(**parameters)


def list_parameters(typed: str) -> dict[str, Any]:
    """List the parameters that a method does not fix, with their defaults.

    Parameters
    ----------
    typed : str
        The name of the method in any accepted spelling.

    Returns
    -------
    dict
        Values that JSON can represent, by name; those of a wrapped estimator under nested names, such as
        ``estimator__epochs``. Parameters whose default is an estimator are left out.

    Examples
    --------
    >>> list_parameters("extra trees")
    {'estimator': None, 'positive': None, 'random_state': None, 'scaling': 'clipped',
     'statistics': ('mean', 'min', 'max')}
    """
    _, free = _build_with_defaults(resolve_method_name(typed))
    plain = (str, int, float, bool, tuple, list, type(None))
    return {key: value for key, value in free.items() if isinstance(value, plain)}


def _build_with_defaults(name: str) -> tuple[BagEstimator, dict[str, Any]]:
    """Build the estimator of a method; return it with the parameters that the method does not fix."""
    fixed = {key: clone(value, safe=False) for key, value in METHODS[name].parameters.items()}
    estimator = METHODS[name].kind().set_params(**fixed)
    return estimator, {key: value for key, value in estimator.get_params().items() if key not in fixed}


def _make_key(name: str) -> tuple[str, str]:
    """Return the key by which names are compared: an initial "mi" with its case, and the name without case."""
    letters = _join_letters(name)
    prefix = name.strip()[: len(CASE_SENSITIVE_PREFIX)]
    return (prefix if prefix.lower() == CASE_SENSITIVE_PREFIX else "", letters)


def _join_letters(name: str) -> str:
    """Return a name in lower case, without separators."""
    return canonicalize_name(name.replace("+", " ")).replace(" ", "")
