"""Bags of images: time per training step on MNIST-bags with LeNet, as ratios in one run.

    pip install torchmil==1.0.2                          for comparison; omitted if not installed
    BAGWISE_DATA=FOLDER python benchmarks/images.py      writes benchmarks/results/images.{md,csv}

The network is that of the appendix of the paper (LeNet-5, attention of 128 units), trained with Adam. Implementations:

    published   a plain torch loop in the style of the published implementation: a DataLoader with one bag per step,
                probabilities clamped at 1e-5, and two forward passes per step, one for the loss and one for the error
    torchmil    the Trainer of torchmil 1.0.2 with its ABMIL, its validation reduced to one bag
    torch       our torch engine
    fused       our compiled engine; compilation, which happens once per machine, is not counted

Bags of 10, 50 and 100 images on average, one bag per step; and batches of 8 bags of 10, where the published loop,
which has no batches, still takes one bag per step. Times are therefore per bag. Before anything is timed, each
implementation must learn: its area under the ROC curve on the training bags must rise above 0.9. Then all are timed in
turn. The results are medians over the rounds, and the ratios are medians of ratios within a round.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # must be set before torch is imported

import statistics
import sys
import time
from functools import partial

import numba
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader

from bagwise.data.datasets import load_dataset
from bagwise.training.engines import FusedEngine, TorchEngine
from own_training import OwnTraining
from writing_results import conditions, write

try:
    from torchmil.data import collate_fn
    from torchmil.models import ABMIL
    from torchmil.utils import Trainer as PeerTrainer
except ImportError:
    ABMIL = None

RATE, DECAY, L = 5e-4, 1e-4, 128
SETTINGS = [(10, 1), (50, 1), (100, 1), (10, 8)]  # mean number of images per bag, bags per step
N_BAGS, LEARNED, ROUNDS = 50, 20, 5  # bags and epochs of the check, timed rounds
TIMED = {10: 80, 50: 24, 100: 16}  # bags per round


class LeNet(nn.Sequential):
    """LeNet-5 with the layers in the order of the published implementation; accepts batches of stacked bags."""

    def __init__(self):
        super().__init__(
            *(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, stride=2)),
            *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2, stride=2)),
            *(nn.Flatten(), nn.Linear(50 * 4 * 4, 500), nn.ReLU()),
        )

    def forward(self, images):
        return super().forward(images.flatten(0, -4)).unflatten(0, images.shape[:-3])


def adam(module):
    return torch.optim.Adam(module.parameters(), lr=RATE, betas=(0.9, 0.999), weight_decay=DECAY)


def tensors(bags):
    """Return (images, label) of each bag."""
    images = (torch.tensor(bags.instances, dtype=torch.float32)[:, None] / 255 - 0.1307) / 0.3081
    parts = zip(bags.offsets[:-1], bags.offsets[1:], bags.labels, strict=True)
    return [(images[start:end], float(label)) for start, end, label in parts]


class Published(nn.Module):
    """The network and training loop in the style of the published implementation."""

    def __init__(self, bags, batch_size):
        super().__init__()
        self.features = LeNet()
        self.attention = nn.Sequential(nn.Linear(500, L), nn.Tanh(), nn.Linear(L, 1))
        self.classifier = nn.Sequential(nn.Linear(500, 1), nn.Sigmoid())
        self.optimizer = adam(self)
        items = tensors(bags)
        self.loader = DataLoader(items, batch_size=1, shuffle=True)
        self.in_order = DataLoader(items, batch_size=1)

    def forward(self, images):
        embeddings = self.features(images.squeeze(0))
        weights = torch.softmax(self.attention(embeddings).T, dim=1)
        probability = self.classifier(weights @ embeddings)
        return probability, (probability >= 0.5).float()

    def objective(self, images, label):
        probability = self.forward(images)[0].clamp(min=1e-5, max=1 - 1e-5)
        return -(label * probability.log() + (1 - label) * (1 - probability).log())

    def error(self, images, label):
        return 1 - self.forward(images)[1].eq(label).float().mean().item()

    def train_for(self, epochs):
        self.train()
        for _ in range(epochs):
            total = 0.0
            for images, label in self.loader:
                self.optimizer.zero_grad()
                loss = self.objective(images, label)
                total += loss.item()  # as in the published loop
                self.error(images, label)
                loss.backward()
                self.optimizer.step()

    def predict_with_weights(self):
        self.eval()
        with torch.no_grad():
            return torch.cat([self.forward(images)[0].ravel() for images, _ in self.in_order]).numpy()


class Torchmil:
    """torchmil's Trainer and ABMIL."""

    def __init__(self, bags, batch_size):
        self.model = ABMIL(in_shape=(1, 28, 28), att_dim=L, feat_ext=LeNet())
        self.trainer = PeerTrainer(self.model, adam(self.model), device="cpu", disable_pbar=True, verbose=False)
        self.items = [{"X": images, "Y": torch.tensor(label)} for images, label in tensors(bags)]
        self.loader = DataLoader(self.items, batch_size=batch_size, shuffle=True, collate_fn=collate_fn)
        self.one = DataLoader(self.items[:1], batch_size=1, collate_fn=collate_fn)

    def train_for(self, epochs):
        self.trainer.train(epochs, self.loader, self.one)

    def predict_with_weights(self):
        self.model.eval()
        with torch.no_grad():
            return torch.cat([self.model(item["X"][None]).ravel() for item in self.items]).numpy()


class Ours(OwnTraining):
    """Our training loop with the given engine."""

    def __init__(self, engine, bags, batch_size):
        parameters = {"learning_rate": RATE, "weight_decay": DECAY, "attention_width": L, "batch_size": batch_size}
        super().__init__(engine, bags, encoder="lenet", optimizer="adam", **parameters)

    def predict_with_weights(self):
        return self.scores()


OURS = {"torch": partial(Ours, TorchEngine), "fused": partial(Ours, FusedEngine)}
IMPLEMENTATIONS = {"published": Published, **({"torchmil": Torchmil} if ABMIL else {}), **OURS}


def check(name, bags, batch_size):
    """Exit if an implementation does not learn, because its time would be meaningless."""
    torch.manual_seed(0)
    implementation = IMPLEMENTATIONS[name](bags, batch_size)
    before = roc_auc_score(bags.labels, implementation.predict_with_weights())
    implementation.train_for(LEARNED)
    after = roc_auc_score(bags.labels, implementation.predict_with_weights())
    print(f"{name}, {batch_size} per step: AUC on the training bags {before:.3f} → {after:.3f}", flush=True)
    if after <= max(0.9, before):
        sys.exit(f"{name} does not learn (AUC {after:.3f}, needs more than {max(0.9, before):.3f}): not timed")


def measure(name, bags, batch_size):
    """Return (wall, processor) milliseconds per bag."""
    implementation = IMPLEMENTATIONS[name](bags, batch_size)
    wall, processor = time.perf_counter(), time.process_time()
    implementation.train_for(1)
    return (time.perf_counter() - wall) / len(bags) * 1e3, (time.process_time() - processor) / len(bags) * 1e3


def compare(size, batch_size):
    """Return the rows of the table."""
    bags = load_dataset("mnist-bags", n_bags=TIMED[size], mean_size=size)
    rounds = [{name: measure(name, bags, batch_size) for name in IMPLEMENTATIONS} for _ in range(ROUNDS)]
    for name in IMPLEMENTATIONS:
        wall, processor = (statistics.median(found[name][clock] for found in rounds) for clock in (0, 1))
        faster = [
            statistics.median(found["published"][clock] / found[name][clock] for found in rounds) for clock in (0, 1)
        ]
        row = {
            "images per bag": size,
            "bags per step": 1 if name == "published" else batch_size,
            "implementation": name,
        }
        row |= {"wall, ms per bag": f"{wall:.2f}", "processor, ms per bag": f"{processor:.2f}"}
        yield row | {"× published, wall": f"{faster[0]:.2f}", "× published, processor": f"{faster[1]:.2f}"}


def main():
    torch.set_num_threads(1)
    learned = load_dataset("mnist-bags", n_bags=N_BAGS, mean_size=10)
    for batch_size in (1, 8):
        for name in IMPLEMENTATIONS:
            check(name, learned, batch_size)
    rows = []
    for setting in SETTINGS:
        for row in compare(*setting):
            print(row, flush=True)
            rows.append(row)
    text = (
        f"{conditions(f'Numba {numba.__version__}')}. MNIST-bags; medians of {ROUNDS} interleaved rounds. Ratios "
        "are taken within a round: how many times as fast as a loop in the style of the published implementation. "
        "Generated by `python benchmarks/images.py`."
    )
    write("images", "Bags of images: time per training step", text, rows)


if __name__ == "__main__":
    main()
