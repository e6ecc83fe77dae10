"""Presets, and the registry of all methods under their names.

The registry contains the methods of the paper's tables, the methods of bagwise, two simple baselines, "extra trees" and
"naive", which are in ``bagwise.estimators.methods``, and combinations of these methods.
"""

from typing import Any

from bagwise.arguments import choose_by_name, suggest_name
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.super_learner import SuperLearner, make_default_library
from bagwise.estimators.methods import PRESETS, SINGLE_METHODS, Method, resolve_name


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


def _make_ensemble(reference: str, n: int, **parameters: Any) -> Method:
    nested = {f"estimator__{name}": value for name, value in parameters.items()}
    return Method(Ensemble, {"estimator": BagClassifier(), "n": n, **nested}, reference)


METHODS: dict[str, Method] = {
    **SINGLE_METHODS,
    "bagwise ensemble": _make_ensemble("three networks of bagwise with different seeds", 3, **PRESETS["bagwise"]),
    "committee": Method(Committee, {}, "the average of methods of several families"),
    "super learner": Method(
        SuperLearner,
        {"estimators": make_default_library(), "screen": None, "budget": None, "folds": 5, "prior": 0.0},
        "van der Laan et al. 2007, over nine of these methods",
    ),
    "auto": Method(
        SuperLearner, {"estimators": None}, "a weighted vote of methods, screened on held-out training bags"
    ),
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
    return resolve_name(typed, METHODS)


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
    estimator, fixed = METHODS[name].build(), METHODS[name].parameters
    return estimator, {key: value for key, value in estimator.get_params().items() if key not in fixed}
