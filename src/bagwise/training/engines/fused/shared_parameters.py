"""Parameters of a torch model and moments of its optimizer as flat arrays, copied from torch and back."""

import numpy as np
import torch
from torch import Tensor, optim

from bagwise.training.engines.fused.model_tables import ParameterBuffer, ParameterSlot


class SharedParameters:
    """Parameter buffer of the kernels, copied from torch; ``store`` copies it back."""

    def __init__(self, slots: list[ParameterSlot], size: int, optimizer: optim.Optimizer) -> None:
        self.parameters = [slot.parameter for slot in slots]
        self.optimizer = optimizer
        dtype = self.parameters[0].detach().numpy().dtype
        weights, *moments = (np.zeros(size, dtype) for _ in range(1 + len(self._moment_names())))
        first = moments[0] if moments else np.zeros(size, dtype)  # without momentum, moments are written but not stored
        self.buffer = ParameterBuffer(weights, first, moments[1] if len(moments) > 1 else first)
        self.views = [_view_parameter(buffer, slot) for buffer in (weights, *moments) for slot in slots]
        torch._foreach_copy_(self.views, self._list_tensors())

    @property
    def n_steps(self) -> int:
        """Number of steps of the optimizer; 0 if the optimizer does not count them."""
        return int(self.optimizer.state[self.parameters[0]].get("step", 0))

    def store(self, n_steps: int) -> None:
        """Copy weights and moments back to torch, and add ``n_steps`` to the step count of the optimizer."""
        with torch.no_grad():
            torch._foreach_copy_(self._list_tensors(), self.views)
        for parameter in self.parameters:
            if "step" in self.optimizer.state[parameter]:
                self.optimizer.state[parameter]["step"] += n_steps

    def _moment_names(self) -> list[str]:
        """Return the keys of the moments in the state of the optimizer."""
        if isinstance(self.optimizer, optim.Adam):
            return ["exp_avg", "exp_avg_sq"]
        return ["momentum_buffer"] if self.optimizer.param_groups[0]["momentum"] else []

    def _list_tensors(self) -> list[Tensor]:
        """Return the tensors of torch in the order of the views; missing moments are created as zeros, as in torch."""
        for parameter in self.parameters:
            state = self.optimizer.state[parameter]
            for name in self._moment_names():
                if name not in state:
                    state[name] = torch.zeros_like(parameter)
            if isinstance(self.optimizer, optim.Adam) and "step" not in state:
                state["step"] = torch.zeros((), dtype=torch.float32)
        names = self._moment_names()
        moments = [self.optimizer.state[parameter][name] for name in names for parameter in self.parameters]
        return [*(parameter.detach() for parameter in self.parameters), *moments]


def _view_parameter(buffer: np.ndarray, slot: ParameterSlot) -> Tensor:
    """Return a view of a parameter in the buffer, in the shape of the parameter."""
    shape = slot.parameter.shape
    part = torch.from_numpy(buffer[slot.start : slot.start + slot.parameter.numel()])
    if len(shape) == 4:  # a convolution, stored with channels last
        return part.view(shape[0], *shape[2:], shape[1]).permute(0, 3, 1, 2)
    return part.view(shape[::-1]).T if slot.transposed else part.view(shape)
