"""Plot patches before and after augmentation: python examples/augmented_patches.py colon-cancer patches.png"""

import sys

import torch
from matplotlib.figure import Figure

from bagwise import load_dataset
from bagwise.figures import plot_patches
from bagwise.nn import HistologyAugmentation

name, picture = sys.argv[1:]
stored = torch.tensor(load_dataset(name).instances[:12])
rows = [(f"spread {spread}", HistologyAugmentation(spread=spread).train()(stored)) for spread in (0.02, 0.1)]
figure = Figure(figsize=(12, 3.4))
plot_patches(figure.subplots(), [("stored", stored.numpy()), *((label, images.numpy()) for label, images in rows)])
figure.savefig(picture, dpi=100, bbox_inches="tight")
