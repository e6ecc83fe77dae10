"""Models that pictures are drawn from: trained once, found again."""

from pathlib import Path
from typing import Any

from bagwise.bags import Bags
from bagwise.estimators import BagClassifier


def trained(path: Path, bags: Bags, **parameters: Any) -> BagClassifier:
    """The model of these parameters, from its folder, or trained on these bags and kept there."""
    wanted = BagClassifier(random_state=0, **parameters)
    if path.exists():
        found = BagClassifier.load(path)
        if found.get_params() == wanted.get_params():
            return found
    wanted.fit(bags, bags.labels)
    wanted.save(path)
    return wanted
