"""Parameters chosen within the training bags: nested selection, so that no test bag has a say.

For each setting of the grid the estimator is fitted on folds of the training bags and judged on the bags held out, by
mean error + mean loss, as the paper chooses its epoch; the best setting is then fitted on all training bags.
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from torch import Tensor

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.holding.delegating import DelegatingEstimator
from bagwise.estimators.holding.inner_folds import Folds, inner_folds
from bagwise.estimators.saving import plain, unplain
from bagwise.likelihoods import logarithms
from bagwise.names import nearest
from bagwise.quantities import shown
from bagwise.randomness import Purpose


class Selected(DelegatingEstimator):
    """An estimator whose parameters are chosen from a grid, by folds of the training bags.

    estimator : any estimator of bags; None stands for PooledClassifier()
    grid : {parameter: list of values}; every combination is tried; None tries the estimator as it is
    folds : stratified, and by group where bags have groups
    random_state : a whole number makes every fit the same
    """

    def __init__(self, estimator: Any = None, grid: Any = None, folds: Any = 3, random_state: Any = None) -> None:
        self.estimator = estimator
        self.grid = grid
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "Selected":
        """Choose on folds of these bags, then learn from all of them."""
        bags, targets = self._training_bags(X, y)
        self.best_: dict[str, Any] = {}
        settings = self._settings()
        splits = inner_folds(targets, bags.groups, self.folds, self._split_seed())
        self.criteria_ = np.array([self._criterion(setting, bags, targets, splits) for setting in settings])
        self.best_ = settings[int(self.criteria_.argmin())]
        self.model_ = self._copy(**self.best_).fit(bags, self.classes_[targets])
        return self

    def checked(self) -> "Selected":
        """Itself, if the grid names parameters of the estimator and gives values for them."""
        trial = clone(self)
        trial.best_, trial.seed_ = {}, 0
        trial._settings()
        return self

    def _settings(self) -> list[dict[str, Any]]:
        grid = {} if self.grid is None else self.grid
        if not isinstance(grid, dict):
            raise InputError(f"grid is {shown(grid)}; give parameters and the values to try, e.g. {{'C': [1, 10]}}")
        chosen = self._copy()
        for name, values in grid.items():
            if name not in chosen.get_params():
                hint = nearest(name, chosen.get_params())
                raise InputError(f"grid: {type(chosen).__name__} has no parameter '{name}'; {hint}")
            if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
                raise InputError(f"grid: {name} is {values!r}; give a list of values to try")
        return list(ParameterGrid(grid))

    def _split_seed(self) -> int:
        return randomness.integer(self.seed_, Purpose.SPLIT, 5)

    def _criterion(self, setting: dict[str, Any], bags: Bags, targets: np.ndarray, splits: Folds) -> float:
        """Mean error + mean loss over the bags held out."""
        losses, mistakes = [], []
        for kept, held in splits:
            model = self._copy(**setting).fit(bags[kept], self.classes_[targets[kept]])
            probabilities = model.predict_proba(bags[held])
            losses.append(-logarithms(probabilities)[np.arange(len(held)), targets[held]].numpy())
            mistakes.append(probabilities.argmax(axis=1) != targets[held])
        return float(np.concatenate(losses).mean() + np.concatenate(mistakes).mean())

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        facts, numbers = super()._content()
        return {"best": plain(self.best_), "model": facts}, {"criteria": torch.from_numpy(self.criteria_), **numbers}

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.best_ = unplain(facts["best"], self.kinds)
        self.criteria_ = numbers["criteria"].numpy()
        super()._restore(facts["model"], {name: value for name, value in numbers.items() if name != "criteria"})

    def _copy(self, **parameters: Any) -> Any:
        return super()._copy(**{**self.best_, **parameters})
