"""A meta-estimator that selects parameters by cross-validation within the training bags (nested cross-validation)."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from torch import Tensor

from bagwise.arguments import describe_value, suggest_name
from bagwise.bags import Bags, Folds, make_inner_folds
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.meta.base import DelegatingEstimator
from bagwise.estimators.serialization import from_plain, to_plain
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Purpose, random_integer
from bagwise.targets import clip_log


class Selected(DelegatingEstimator):
    """An estimator whose parameters are selected from a grid by cross-validation within the training bags.

    For each setting of the grid, the estimator is fitted on the folds, and evaluated on the held-out bags by mean error
    + mean loss, the criterion by which the paper chooses the epoch. The best setting is then fitted to all training
    bags. Test bags are not used.

    Parameters
    ----------
    estimator : BagEstimator or None, default=None
        Any bag estimator; None means ``PooledClassifier()``.
    grid : dict of lists or None, default=None
        Values to try for each parameter; every combination is tried. None uses the estimator unchanged.
    folds : int, default=3
        Number of folds, stratified by class; bags of a group stay together.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    model_ : BagEstimator
        The copy of ``estimator`` with the selected parameters, fitted to all bags.
    best_ : dict
        The selected parameters.
    criteria_ : ndarray of shape (n_settings,)
        Mean error + mean loss of each setting, in the order of scikit-learn's ``ParameterGrid(grid)``.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> from bagwise.estimators import MIKernel
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = Selected(MIKernel(), {"C": [1.0, 10.0]}, random_state=0).fit(bags, bags.labels)
    >>> list(model.best_), len(model.criteria_)
    (['C'], 2)
    """

    def __init__(
        self,
        estimator: BagEstimator | None = None,
        grid: dict[str, Any] | None = None,
        folds: int = 3,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "Selected":
        """Select the parameters by cross-validation, then fit the estimator to all bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        Selected
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        self.best_: dict[str, Any] = {}
        settings = self._list_settings()
        folds = make_inner_folds(self.target_.make_strata(targets), bags.groups, self.folds, self._make_split_seed())
        self.criteria_ = np.array([self._compute_criterion(setting, bags, targets, folds) for setting in settings])
        self.best_ = settings[int(self.criteria_.argmin())]
        self.model_ = self._copy_estimator(**self.best_).fit(bags, self.target_.decode(targets))
        return self

    def checked(self) -> "Selected":
        """Return the estimator itself after checking the grid.

        Returns
        -------
        Selected
            The estimator itself.

        Raises
        ------
        InputError
            If the grid has an unknown parameter, or a parameter without a list of values.
        """
        trial = clone(self)
        trial.best_, trial.seed_ = {}, 0
        trial._list_settings()
        return self

    def _list_settings(self) -> list[dict[str, Any]]:
        grid = {} if self.grid is None else self.grid
        if not isinstance(grid, dict):
            raise InputError(
                f"grid is {describe_value(grid)}; it must be a dict with the values to try for each parameter, "
                "e.g. {'C': [1, 10]}"
            )
        template = self._copy_estimator()
        for name, values in grid.items():
            if name not in template.get_params():
                hint = suggest_name(name, template.get_params())
                raise InputError(f"grid: {type(template).__name__} has no parameter '{name}'; {hint}")
            if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
                raise InputError(f"grid: {name} is {values!r}; it must be a list of values to try, e.g. [1, 10]")
        return list(ParameterGrid(grid))

    def _make_split_seed(self) -> int:
        return random_integer(self.seed_, Purpose.SPLIT, 5)

    def _compute_criterion(self, setting: dict[str, Any], bags: Bags, targets: np.ndarray, folds: Folds) -> float:
        """Compute mean error + mean loss over the held-out bags of all folds."""
        losses, errors = [], []
        for training, held_out in folds:
            model = self._copy_estimator(**setting).fit(bags[training], self.target_.decode(targets[training]))
            outputs, likelihood = model.predict_outputs(bags[held_out]), self.target_.likelihood
            losses.append(-clip_log(likelihood.densities(outputs, targets[held_out])).numpy())
            errors.append(likelihood.output_errors(outputs, targets[held_out]))
        return float(np.concatenate(losses).mean() + np.concatenate(errors).mean())

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata, tensors = super()._content()
        criteria = torch.from_numpy(self.criteria_)
        return {"best": to_plain(self.best_), "model": metadata}, {"criteria": criteria, **tensors}

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.best_ = from_plain(metadata["best"], self.kinds)
        self.criteria_ = tensors["criteria"].numpy()
        super()._restore(metadata["model"], {name: value for name, value in tensors.items() if name != "criteria"})

    def _copy_estimator(self, **parameters: Any) -> Any:
        return super()._copy_estimator(**{**self.best_, **parameters})
