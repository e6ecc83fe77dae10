"""A cut around the centre of each image, moved at random in training: nobody marks a nucleus to the pixel.

    corner = (side − size) / 2 + round(spread · n)        n ~ N(0, 1) in each direction; the cut stays inside the image

Images are stored wider than the network reads them; the margin is where the cut can move.
"""

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

from bagwise.augmentation.contract import Augmentation, Pictures, gaussian
from bagwise.errors import InputError


class ShiftedCrop(Augmentation):
    """Cuts ``size`` × ``size`` pixels around a centre that moves in training, and around the exact one in evaluation.

    spread : standard deviation of the centre's moves, in pixels

    >>> ShiftedCrop(27).eval()(torch.zeros(5, 39, 39, 3)).shape
    torch.Size([5, 27, 27, 3])
    """

    def __init__(self, size: int = 27, spread: float = 3.0) -> None:
        super().__init__()
        if size < 1 or not 0 <= spread < np.inf:
            raise InputError(f"crop of size {size} with spread {spread}: size is at least 1, spread at least 0")
        self.size, self.spread = size, spread

    def forward(self, instances: Shaped[Tensor, "n ..."]) -> Pictures:
        if instances.ndim not in (3, 4) or min(instances.shape[1:3]) < self.size:
            raise InputError(
                f"crop takes images of at least {self.size}×{self.size} pixels, and these instances have the shape "
                f"{tuple(instances.shape[1:])}; load them with a margin"
            )
        spare = np.array(instances.shape[1:3]) - self.size
        corners = np.broadcast_to(spare // 2, (len(instances), 2))
        if self.training:
            moves = np.rint(self.spread * gaussian(self.draw(len(instances), 2))).astype(np.int64)
            corners = np.clip(corners + moves, 0, spare)
        return _cut(instances, torch.from_numpy(corners.astype(np.int64)).to(instances.device), self.size)

    def extra_repr(self) -> str:
        return f"size={self.size}, spread={self.spread}"


def _cut(images: Pictures, corners: Shaped[Tensor, "n 2"], size: int) -> Shaped[Tensor, "n {size} {size} *channels"]:
    """The square of each image at its (row, column), of all images at once."""
    side = torch.arange(size, device=images.device)
    rows, columns = corners[:, :1] + side, corners[:, 1:] + side
    every = torch.arange(len(images), device=images.device)
    return images[every[:, None, None], rows[:, :, None], columns[:, None, :]]
