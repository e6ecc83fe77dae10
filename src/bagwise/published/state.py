"""A state dictionary, whatever it was wrapped in: tensors under names without the prefixes that wrappers add."""

import re
from pathlib import Path

from torch import Tensor

from bagwise.errors import InputError
from bagwise.formats.tensors import read_tensors

PREFIXES = re.compile(r"^((module|model|net|_orig_mod)\.)+")


class State:
    """Named tensors of a file, taken out one by one; what is left over was not understood."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._tensors = {PREFIXES.sub("", name): tensor for name, tensor in read_tensors(path).items()}
        self._untaken = set(self._tensors)

    def has(self, pattern: str) -> bool:
        """Whether some name is of this pattern, of which every part is spelled out."""
        return any(re.fullmatch(pattern, name) for name in self._tensors)

    def places(self, name: str) -> list[int]:
        """The numbers of the layers that have weights within a sequence of that name."""
        found = (re.fullmatch(rf"{name}\.(\d+)\.weight", each) for each in self._tensors)
        return sorted(int(each[1]) for each in found if each)

    def layer(self, pattern: str, *, bias: bool = True) -> dict[str, Tensor]:
        """The weight, and the bias, of the one layer whose name is of this pattern."""
        weights = [name for name in self._tensors if re.fullmatch(rf"{pattern}\.weight", name)]
        if len(weights) != 1:
            raise InputError(f"{self.path} has {len(weights)} layers {pattern}, and one was expected; {self._listed()}")
        layer = {"weight": self._take(weights[0])}
        if bias:
            layer["bias"] = self._take(weights[0].removesuffix("weight") + "bias")
        return layer

    def leave(self, pattern: str) -> None:
        """What has no part in a prediction."""
        self._untaken -= {name for name in self._untaken if re.fullmatch(pattern, name)}

    def check_taken(self) -> None:
        """Refuse a file that holds more than the model has: its predictions would be others."""
        if self._untaken:
            raise InputError(f"{self.path} holds more than such a model: {', '.join(sorted(self._untaken)[:5])}")

    def _take(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise InputError(f"{self.path} has no {name}; {self._listed()}")
        self._untaken.discard(name)
        if not self._tensors[name].isfinite().all():
            raise InputError(f"{self.path}: {name} holds numbers that are not finite; the file is of no use")
        return self._tensors[name].float()

    def _listed(self) -> str:
        return f"it holds {', '.join(sorted(self._tensors)[:8]) or 'nothing'}"
