"""Estimators of bags behind scikit-learn's surface."""

from bagwise.estimators.adjusted import Adjusted
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.em_dd import EMDD
from bagwise.estimators.ensemble import Ensemble
from bagwise.estimators.fisher_vector import MiFV
from bagwise.estimators.graph_kernel import MiGraph
from bagwise.estimators.instance_svm import MiSVM
from bagwise.estimators.minimax_kernel import MinimaxKernel
from bagwise.estimators.naive import NaiveClassifier
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.pooled import PooledClassifier
from bagwise.estimators.selected import Selected
from bagwise.estimators.set_kernel import MIKernel
from bagwise.estimators.vlad import MiVLAD
from bagwise.estimators.witness_svm import MISVM

__all__ = [
    "EMDD",
    "MISVM",
    "Adjusted",
    "BagClassifier",
    "BagEstimator",
    "Ensemble",
    "MIKernel",
    "MiFV",
    "MiGraph",
    "MiSVM",
    "MiVLAD",
    "MinimaxKernel",
    "NaiveClassifier",
    "PooledClassifier",
    "Selected",
]
