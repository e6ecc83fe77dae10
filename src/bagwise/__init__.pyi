__all__ = ["BagClassifier", "Bags", "InputError", "Run", "evaluate", "load_bags", "load_dataset", "save_bags"]

from .bags import Bags, load_bags, save_bags
from .data.datasets import load_dataset
from .errors import InputError
from .estimators import BagClassifier
from .evaluation import evaluate
from .runs import Run

__version__: str
