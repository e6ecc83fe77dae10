"""Estimators of bags behind scikit-learn's surface."""

from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.network import BagClassifier

__all__ = ["BagClassifier", "BagEstimator"]
