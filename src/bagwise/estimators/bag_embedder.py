"""Bags as vectors: the transform of estimators that pool the instances of a bag before they classify it.

z(X) = σ( f(x₁), …, f(x_K) )        score = g(z)
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if

from bagwise.estimators.validation import BagsLike


def _pools_embeddings(estimator: Any) -> bool:
    return estimator.pools_embeddings


class BagEmbedder(TransformerMixin, ABC, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Mixin of bag estimators that represent a bag by a vector."""

    @property
    def pools_embeddings(self) -> bool:
        """Whether a bag has a vector; False for networks that pool the scores of instances."""
        return True

    @abstractmethod
    def _embed(self, X: BagsLike) -> np.ndarray:
        """Compute the vectors of bags, of shape (n_bags, width)."""

    @available_if(_pools_embeddings)
    def transform(self, X: BagsLike) -> np.ndarray:
        """Compute the embeddings of bags: the pooled vectors from which they are classified.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Any bags with the features of the training bags.

        Returns
        -------
        ndarray of shape (n_bags, width)
            One vector per bag.
        """
        return self._embed(X)

    @available_if(_pools_embeddings)
    def fit_transform(self: Any, X: BagsLike, y: npt.ArrayLike | None = None, **parameters: Any) -> np.ndarray:
        """Fit the estimator, and compute the embeddings of the training bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        **parameters
            Further arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n_bags, width)
            One vector per bag.
        """
        return self.fit(X, y, **parameters).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
