"""Estimators of bags behind scikit-learn's surface."""

from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.density.em_dd import EMDD
from bagwise.estimators.holding.adjusted import Adjusted
from bagwise.estimators.holding.committee import Committee
from bagwise.estimators.holding.ensemble import Ensemble
from bagwise.estimators.holding.selected import Selected
from bagwise.estimators.holding.super_learner import SuperLearner
from bagwise.estimators.kernels.graph_kernel import MiGraph
from bagwise.estimators.kernels.minimax_kernel import MinimaxKernel
from bagwise.estimators.kernels.set_kernel import MIKernel
from bagwise.estimators.network import BagClassifier
from bagwise.estimators.svm.instance_svm import MiSVM
from bagwise.estimators.svm.witness_svm import MISVM
from bagwise.estimators.vectors.fisher_vector import MiFV
from bagwise.estimators.vectors.vlad import MiVLAD
from bagwise.estimators.wrapped.naive import NaiveClassifier
from bagwise.estimators.wrapped.pooled import PooledClassifier

__all__ = [
    "EMDD",
    "MISVM",
    "Adjusted",
    "BagClassifier",
    "BagEstimator",
    "Committee",
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
    "SuperLearner",
]
