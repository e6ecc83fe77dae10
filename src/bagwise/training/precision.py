"""Mixed precision: in training the encoder computes in half the bits, and everything else in full.

bfloat16 has the range of float32, so gradients need no scaling. Weights, pooling, head, loss and the optimiser's state
stay as they are, and so do predictions: softmax and sums over many instances lose what the encoder's products do not.
"""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.models import BagModel

PRECISIONS = ("full", "mixed")


class Halved(nn.Module):
    """An encoder whose products are of bfloat16; its weights, which it shares, and its embeddings are not."""

    def __init__(self, encoder: nn.Module, kind: str) -> None:
        super().__init__()
        self.encoder = encoder
        self.kind = kind  # of device

    def forward(self, instances: Shaped[Tensor, "instances ..."]) -> Float[Tensor, "instances width"]:
        with torch.autocast(self.kind, dtype=torch.bfloat16):
            embeddings = self.encoder(instances)
        return embeddings.to(torch.get_default_dtype())


def halve(model: nn.Module, device: torch.device) -> BagModel:
    """The same model to train with: it shares every weight, and its encoder is ``Halved``."""
    assert isinstance(model, BagModel)
    return BagModel(Halved(model.encoder, device.type), model.pooling, model.head)


def check_precision(precision: str, device: torch.device) -> None:
    """Refuse a device that would have to imitate bfloat16, and processors.

    A virtual machine may show bfloat16 units of its processor that it does not lend: a product ends the process there.
    """
    if precision == "full":
        return
    if device.type != "cuda" or not torch.cuda.is_bf16_supported(including_emulation=False):
        raise InputError(
            f"precision 'mixed' is for CUDA devices that compute with bfloat16, and this run computes on {device}; "
            "use precision 'full'"
        )
