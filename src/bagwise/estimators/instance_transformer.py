"""Transformers of scikit-learn, such as StandardScaler or PCA, applied to the instances of bags.

bags (N × d rows)  →  transformer fitted to the rows of the training bags  →  the same bags with N × d′ rows
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bagwise.arguments import describe_value
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.validation import BagsLike, as_bags, match_features, set_feature_names


def apply_to_instances(transformer: Any) -> "InstanceTransformer":
    """Make a scikit-learn transformer of rows applicable to bags, for example as a step of a pipeline.

    Parameters
    ----------
    transformer : transformer
        A transformer of scikit-learn, such as ``StandardScaler()`` or a pipeline of transformers. It is not changed: a
        copy is fitted.

    Returns
    -------
    InstanceTransformer

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bagwise.data.datasets import load_dataset
    >>> from bagwise.estimators import MISVM
    >>> bags = load_dataset("needles", n_bags=40)
    >>> model = make_pipeline(apply_to_instances(StandardScaler()), MISVM(random_state=0))
    >>> model.fit(bags, bags.labels).predict_proba(bags).shape
    (40, 2)
    """
    return InstanceTransformer(transformer)


def _names_features(estimator: Any) -> bool:
    return hasattr(getattr(estimator, "transformer_", estimator.transformer), "get_feature_names_out")


class InstanceTransformer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Fits a transformer to the instances of the training bags, and transforms the instances of any bags.

    Labels, names, groups, positions and instance labels of the bags are kept.

    Parameters
    ----------
    transformer : transformer
        A transformer of scikit-learn.

    Attributes
    ----------
    transformer_ : transformer
        The fitted copy of the transformer.
    n_features_in_ : int
        Number of features of an instance.
    feature_names_in_ : ndarray of str
        Names of the features; defined only if the training bags had names.
    """

    transformer_: Any
    n_features_in_: int

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "InstanceTransformer":
        """Fit the transformer to all instances of the training bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,) or None, default=None
            One label per bag; transformers that need labels get the label of the bag for each instance.

        Returns
        -------
        InstanceTransformer
            The transformer itself.
        """
        bags = as_bags(X)
        if not hasattr(self.transformer, "fit") or not hasattr(self.transformer, "transform"):
            raise InputError(
                f"transformer is {describe_value(self.transformer)}; it must be a scikit-learn transformer with fit "
                "and transform, e.g. apply_to_instances(StandardScaler())"
            )
        if len(bags.instance_shape) != 1:
            raise InputError(
                f"the instances have shape {bags.instance_shape}, but transformers need vectors of features; transform "
                "images with bags.map(function)"
            )
        if y is not None and len(np.asarray(y)) != len(bags):
            raise InputError(f"there are {len(np.asarray(y))} labels for {len(bags)} bags; give one label per bag")
        labels = None if y is None else np.repeat(np.asarray(y), bags.sizes, axis=0)
        set_feature_names(self, bags.feature_names)
        self.n_features_in_ = bags.instance_shape[0]
        self.transformer_ = clone(self.transformer).fit(bags.instances, labels)
        return self

    def transform(self, X: BagsLike) -> Bags:
        """Transform the instances of bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Any bags with the features of the training bags.

        Returns
        -------
        Bags
            Bags with the transformed instances and the same metadata.
        """
        check_is_fitted(self)
        bags = match_features(self, as_bags(X))
        if bags.instance_shape != (self.n_features_in_,):
            raise InputError(
                f"the instances have shape {bags.instance_shape}, but the transformer was fitted to "
                f"{self.n_features_in_} features; pass bags with the features of the training bags"
            )
        rows = self.transformer_.transform(bags.instances)
        mapped = bags.map(lambda _: rows.toarray() if hasattr(rows, "toarray") else rows)
        has_names = hasattr(self, "feature_names_in_") and _names_features(self)
        return mapped.replace(feature_names=self.get_feature_names_out().tolist() if has_names else None)

    @available_if(_names_features)
    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> np.ndarray:
        """Return the names of the transformed features; defined only if the transformer has this method.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; None means those of the training bags.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        return self.transformer_.get_feature_names_out(names)
