"""The weights of a torch model and the moments of its optimiser as flat arrays, read once and written back at will."""

import numpy as np
import torch
from torch import Tensor, optim

from bagwise.training.fused.layout import Slot
from bagwise.training.fused.plan import Flat


class Shared:
    """Flat copies of what torch holds; ``store`` makes torch's the same."""

    def __init__(self, slots: list[Slot], size: int, optimizer: optim.Optimizer) -> None:
        self.parameters = [slot.parameter for slot in slots]
        self.optimizer = optimizer
        dtype = self.parameters[0].detach().numpy().dtype
        weights, *moments = (np.zeros(size, dtype) for _ in range(1 + len(self._names())))
        first = moments[0] if moments else np.zeros(size, dtype)  # SGD without momentum: there, but never kept
        self.flat = Flat(weights, first, moments[1] if len(moments) > 1 else first)
        self.views = [[_view(flat, slot) for slot in slots] for flat in (weights, *moments)]
        torch._foreach_copy_([view for views in self.views for view in views], self._held())

    @property
    def done(self) -> int:
        """Steps that the optimiser has done, as far as it counts them."""
        return int(self.optimizer.state[self.parameters[0]].get("step", 0))

    def store(self, n_steps: int) -> None:
        """Write weights and moments back to torch."""
        with torch.no_grad():
            torch._foreach_copy_(self._held(), [view for views in self.views for view in views])
        for parameter in self.parameters:
            if "step" in self.optimizer.state[parameter]:
                self.optimizer.state[parameter]["step"] += n_steps

    def _names(self) -> list[str]:
        """Under which names the optimiser keeps its moments."""
        if isinstance(self.optimizer, optim.Adam):
            return ["exp_avg", "exp_avg_sq"]
        return ["momentum_buffer"] if self.optimizer.param_groups[0]["momentum"] else []

    def _held(self) -> list[Tensor]:
        """What torch holds, in the order of the views; moments that are not there yet begin as zeros, as in torch."""
        for parameter in self.parameters:
            state = self.optimizer.state[parameter]
            for name in self._names():
                if name not in state:
                    state[name] = torch.zeros_like(parameter)
            if isinstance(self.optimizer, optim.Adam) and "step" not in state:
                state["step"] = torch.zeros((), dtype=torch.float32)
        moments = [self.optimizer.state[parameter][name] for name in self._names() for parameter in self.parameters]
        return [*(parameter.detach() for parameter in self.parameters), *moments]


def _view(flat: np.ndarray, slot: Slot) -> Tensor:
    """A parameter's part of a flat array, in the shape of the parameter."""
    shape = slot.parameter.shape
    part = torch.from_numpy(flat[slot.start : slot.start + slot.parameter.numel()])
    if len(shape) == 4:  # a convolution: the channels of a number of the window lie side by side
        return part.view(shape[0], *shape[2:], shape[1]).permute(0, 3, 1, 2)
    return part.view(shape[::-1]).T if slot.transposed else part.view(shape)
