"""Every method by the name that the literature gives it: the rows of the paper's tables, and two honest baselines.

Small and capital letters tell mi-SVM (instances) from MI-SVM (bags), and mi-Net from MI-Net: the first two letters
count as they are typed, all others in any case; spaces, hyphens, underscores and plus signs mean the same.
"""

from typing import Any, NamedTuple

from sklearn.base import clone

from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.density.em_dd import EMDD
from bagwise.estimators.holding.committee import Committee
from bagwise.estimators.holding.ensemble import Ensemble
from bagwise.estimators.holding.super_learner import SuperLearner
from bagwise.estimators.kernels.graph_kernel import MiGraph
from bagwise.estimators.kernels.minimax_kernel import MinimaxKernel
from bagwise.estimators.kernels.set_kernel import MIKernel
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.presets import PRESETS
from bagwise.estimators.svm.instance_svm import MiSVM
from bagwise.estimators.svm.witness_svm import MISVM
from bagwise.estimators.vectors.fisher_vector import MiFV
from bagwise.estimators.vectors.vlad import MiVLAD
from bagwise.estimators.wrapped.naive import NaiveClassifier
from bagwise.estimators.wrapped.pooled import PooledClassifier
from bagwise.names import canonical, nearest

AMBIGUOUS = ("mi", "MI")


class Method(NamedTuple):
    """An estimator with the parameters that make it this method."""

    kind: type[BagEstimator]
    parameters: dict[str, Any]  # those of an estimator that is held under nested names: estimator__epochs
    reference: str


def _network(reference: str = "Ilse et al. 2018", **parameters: Any) -> Method:
    return Method(BagClassifier, parameters, reference)


def _ensemble(reference: str, n: int, **parameters: Any) -> Method:
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
    "mi-Net": _network("Wang et al. 2018", pooling="max", level="instance"),
    "MI-Net": _network("Wang et al. 2018", pooling="max"),
    "MI-Net with DS": _network("Wang et al. 2018", pooling="max", connections="deep supervision"),
    "MI-Net with RC": _network("Wang et al. 2018", pooling="max", connections="residual"),
    "attention": _network(pooling="attention"),
    "gated attention": _network(pooling="gated attention"),
    "instance+max": _network(pooling="max", level="instance"),
    "instance+mean": _network(pooling="mean", level="instance"),
    "embedding+max": _network(pooling="max"),
    "embedding+mean": _network(pooling="mean"),
    "bagwise": _network("gated attention, augmented and averaged", **PRESETS["bagwise"]),
    "bagwise ensemble": _ensemble("three networks of bagwise with different seeds", 3, **PRESETS["bagwise"]),
    "committee": Method(Committee, {}, "methods of several families that vote"),
    "super learner": Method(SuperLearner, {}, "van der Laan et al. 2007, over nine of these methods"),
    "extra trees": Method(PooledClassifier, {}, "Geurts et al. 2006, on mean, min and max of each bag"),
    "naive": Method(NaiveClassifier, {}, "every instance with its bag's label"),
}


def method_name(typed: str) -> str:
    """The name of a method as the table writes it.

    >>> method_name("MI_svm"), method_name("mi-svm"), method_name("Gated-Attention")
    ('MI-SVM', 'mi-SVM', 'gated attention')
    """
    known = {_key(name): name for name in METHODS}
    name = known.get(_key(typed))
    if name is None:
        like = [name for name in METHODS if canonical(name) == canonical(typed)]
        hint = f"write {' or '.join(like)}" if like else nearest(typed, METHODS)
        raise InputError(f"method '{typed}' is unknown; {hint}")
    return name


def build_method(typed: str, **parameters: Any) -> BagEstimator:
    """The estimator of that name; parameters change what the method leaves open.

    >>> build_method("mi-Graph", C=5.0)
    MiGraph(C=5.0)
    >>> build_method("bagwise ensemble", estimator__epochs=30).estimator.epochs
    30
    """
    name = method_name(typed)
    fixed = {word: clone(value, safe=False) for word, value in METHODS[name].parameters.items()}
    estimator = METHODS[name].kind().set_params(**fixed)
    known = [word for word in estimator.get_params() if word not in fixed]
    for word in parameters:
        if word not in known:
            raise InputError(f"{name} has no parameter '{word}'; {nearest(word, known)}")
    return estimator.set_params(**parameters)


def _key(name: str) -> tuple[str, str]:
    """What tells names apart: the first two letters as they are where that matters, the rest in any case."""
    plain = canonical(name.replace("+", " ")).replace(" ", "")
    start = name.strip()[:2]
    return (start if start in AMBIGUOUS or start.lower() == "mi" else "", plain)
