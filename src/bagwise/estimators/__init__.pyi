__all__ = [
    "BLOCK",
    "DEFAULT_SCREEN",
    "DESCRIPTION",
    "EMDD",
    "METHODS",
    "MISVM",
    "PRESETS",
    "Adjusted",
    "BagClassifier",
    "BagEstimator",
    "BagNetwork",
    "BagsLike",
    "Calibration",
    "ClassicalEstimator",
    "Committee",
    "DelegatingEstimator",
    "Ensemble",
    "FittedState",
    "HeldOutLoss",
    "HeldOutOutputs",
    "InstanceTransformer",
    "MIKernel",
    "MajorityClassifier",
    "MajorityWarning",
    "Method",
    "MiFV",
    "MiGraph",
    "MiSVM",
    "MiVLAD",
    "MinimaxKernel",
    "NaiveClassifier",
    "PooledClassifier",
    "ScreenedMethod",
    "Selected",
    "SuperLearner",
    "SupportGraphs",
    "SupportSets",
    "Voting",
    "apply_to_instances",
    "as_bags",
    "build_method",
    "compute_gram_matrix",
    "get_preset",
    "list_parameters",
    "make_identity",
    "resolve_method_name",
    "restore_attributes",
    "set_positive",
    "to_plain",
]

from .bag_classifier import BagClassifier
from .base import BagEstimator
from .calibration import Calibration, HeldOutLoss, HeldOutOutputs, MajorityWarning, make_identity
from .classical.bag_kernels import BLOCK, compute_gram_matrix
from .classical.base import ClassicalEstimator, FittedState
from .classical.em_dd import EMDD
from .classical.majority import MajorityClassifier
from .classical.mi_fv import MiFV
from .classical.mi_graph import MiGraph, SupportGraphs
from .classical.mi_kernel import MIKernel, SupportSets
from .classical.mi_svm import MISVM, MiSVM
from .classical.mi_vlad import MiVLAD
from .classical.minimax_kernel import MinimaxKernel
from .classical.naive import NaiveClassifier
from .classical.pooled import PooledClassifier
from .instance_transformer import InstanceTransformer, apply_to_instances
from .meta.adjusted import Adjusted
from .meta.base import DelegatingEstimator, set_positive
from .meta.committee import Committee
from .meta.ensemble import Ensemble
from .meta.screening import DEFAULT_SCREEN, ScreenedMethod
from .meta.selected import Selected
from .meta.super_learner import SuperLearner
from .meta.voting import Voting
from .methods import PRESETS, Method
from .network import BagNetwork
from .registry import METHODS, build_method, get_preset, list_parameters, resolve_method_name
from .serialization import DESCRIPTION, restore_attributes, to_plain
from .validation import BagsLike, as_bags
