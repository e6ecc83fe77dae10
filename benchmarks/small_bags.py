"""Small bags of features: time per training step on Musk1, one bag per step, as ratios in one run.

    pip install torchmil==1.0.2          for comparison; bagwise does not need it, and it is omitted if not installed
    pip install --no-deps monai==1.6.1   likewise
    python benchmarks/small_bags.py      writes benchmarks/results/small_bags.{md,csv}

The network is that of the appendix of the paper (256-128-64 with dropout, attention of 64 units), trained with SGD with
momentum. Implementations:

    published   a plain torch loop in the style of the published implementation: probabilities clamped at 1e-5, and two
                forward passes per step, one for the loss and one for the error
    torchmil    the Trainer of torchmil 1.0.2 with its ABMIL, its validation reduced to one bag
    monai       the MILModel of MONAI with an attention of the same 64 units, in a minimal torch loop: MONAI has no MIL
                trainer
    torch       our torch engine
    fused       our compiled engine, and the same for two simultaneous trainings in two threads

Before anything is timed, each implementation must learn: more than 80 % of the training bags correct, at a loss below
0.5. Then all are timed in turn. The results are medians over the rounds, and the ratios are medians of ratios within a
round.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # must be set before torch is imported

import statistics
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numba
import torch
from torch import nn

from bagwise.data.datasets import load_dataset
from bagwise.nn import fit_scaling
from bagwise.training.engines import FusedEngine, TorchEngine
from own_training import OwnTraining
from writing_results import conditions, write

try:
    from torch.utils.data import DataLoader
    from torchmil.data import collate_fn
    from torchmil.models import ABMIL
    from torchmil.utils import Trainer as PeerTrainer
except ImportError:
    ABMIL = None
try:
    from monai.networks.nets import MILModel
except ImportError:
    MILModel = None

RATE, DECAY, MOMENTUM, L = 5e-4, 5e-3, 0.9, 64
LEARNED, ROUNDS = 30, 7  # epochs of the check, timed rounds
BAGS = load_dataset("musk1")
ROWS = torch.tensor(fit_scaling(BAGS, True).rows(BAGS.instances), dtype=torch.float32)
LIST = [ROWS[start:end] for start, end in zip(BAGS.offsets[:-1], BAGS.offsets[1:], strict=True)]
LABELS = torch.tensor(BAGS.labels, dtype=torch.float32)


def layers():
    widths = [BAGS.instance_shape[0], 256, 128, 64]
    return nn.Sequential(
        *(part for before, after in pairwise(widths) for part in (nn.Linear(before, after), nn.ReLU(), nn.Dropout(0.5)))
    )


def sgd(module):
    return torch.optim.SGD(module.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)


class Published(nn.Module):
    """The network and training loop in the style of the published implementation."""

    def __init__(self):
        super().__init__()
        self.features = layers()
        self.attention = nn.Sequential(nn.Linear(64, L), nn.Tanh(), nn.Linear(L, 1))
        self.classifier = nn.Sequential(nn.Linear(64, 1), nn.Sigmoid())
        self.optimizer = sgd(self)

    def forward(self, rows):
        embeddings = self.features(rows)
        weights = torch.softmax(self.attention(embeddings).T, dim=1)
        probability = self.classifier(weights @ embeddings)
        return probability, (probability >= 0.5).float()

    def objective(self, rows, label):
        probability = self.forward(rows)[0].clamp(min=1e-5, max=1 - 1e-5)
        return -(label * probability.log() + (1 - label) * (1 - probability).log())

    def error(self, rows, label):
        return 1 - self.forward(rows)[1].eq(label).float().mean().item()

    def train_for(self, epochs):
        self.train()
        for _ in range(epochs):
            total = 0.0
            for number in torch.randperm(len(LIST)).tolist():
                self.optimizer.zero_grad()
                loss = self.objective(LIST[number], LABELS[number])
                total += loss.item()  # as in the published loop
                self.error(LIST[number], LABELS[number])
                loss.backward()
                self.optimizer.step()

    def probabilities(self):
        self.eval()
        with torch.no_grad():
            return torch.cat([self.forward(rows)[0].ravel() for rows in LIST])


class Peer:
    """torchmil's Trainer and ABMIL."""

    def __init__(self):
        self.model = ABMIL(in_shape=(BAGS.instance_shape[0],), att_dim=L, feat_ext=layers())
        self.trainer = PeerTrainer(self.model, sgd(self.model), device="cpu", disable_pbar=True, verbose=False)
        items = [{"X": rows, "Y": label} for rows, label in zip(LIST, LABELS, strict=True)]
        self.loader = DataLoader(items, batch_size=1, shuffle=True, collate_fn=collate_fn)
        self.one = DataLoader(items[:1], batch_size=1, collate_fn=collate_fn)

    def train_for(self, epochs):
        self.trainer.train(epochs, self.loader, self.one)

    def probabilities(self):
        self.model.eval()
        with torch.no_grad():
            return torch.cat([self.model(rows[None]).ravel().sigmoid() for rows in LIST])


class Monai:
    """MONAI's MILModel, which expects images as instances: the features are the channels of one pixel."""

    def __init__(self):
        backbone = nn.Sequential(nn.Flatten(), layers())
        self.model = MILModel(1, "att", pretrained=False, backbone=backbone, backbone_num_features=64)
        self.model.attention = nn.Sequential(nn.Linear(64, L), nn.Tanh(), nn.Linear(L, 1))
        self.optimizer = sgd(self.model)

    def score(self, rows):
        return self.model(rows[None, :, :, None, None]).ravel()

    def train_for(self, epochs):
        self.model.train()
        for _ in range(epochs):
            for number in torch.randperm(len(LIST)).tolist():
                self.optimizer.zero_grad()
                scores = self.score(LIST[number])
                nn.functional.binary_cross_entropy_with_logits(scores, LABELS[number : number + 1]).backward()
                self.optimizer.step()

    def probabilities(self):
        self.model.eval()
        with torch.no_grad():
            return torch.cat([self.score(rows).sigmoid() for rows in LIST])


class Ours(OwnTraining):
    """Our training loop with the given engine."""

    def __init__(self, engine):
        parameters = {"learning_rate": RATE, "weight_decay": DECAY, "momentum": MOMENTUM, "attention_width": L}
        super().__init__(engine, BAGS, optimizer="sgd", **parameters)

    def probabilities(self):
        return torch.tensor(self.scores()).sigmoid()


IMPLEMENTATIONS = {
    "published": Published,
    **({} if ABMIL is None else {"torchmil": Peer}),
    **({} if MILModel is None else {"monai": Monai}),
    "torch": lambda: Ours(TorchEngine),
    "fused": lambda: Ours(FusedEngine),
}
EPOCHS = {"fused": 40, "fused, two at once": 40}  # per round; 2 for the others


def check(name):
    """Exit if an implementation does not learn, because its time would be meaningless."""
    torch.manual_seed(0)
    implementation = IMPLEMENTATIONS[name]()
    implementation.train_for(LEARNED)
    probabilities = implementation.probabilities().clamp(1e-6, 1 - 1e-6).double()
    loss = nn.functional.binary_cross_entropy(probabilities, LABELS.double()).item()
    accuracy = ((probabilities > 0.5) == LABELS.bool()).double().mean().item()
    print(f"{name}: loss {loss:.3f}, accuracy {accuracy:.3f} on the training bags after {LEARNED} epochs", flush=True)
    if accuracy <= 0.8 or loss >= 0.5:
        sys.exit(f"{name} does not learn (needs accuracy > 0.8 and loss < 0.5): not timed")


def clocked(work, n_steps):
    """Return (wall, processor) microseconds per step."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) / n_steps * 1e6, (time.process_time() - processor) / n_steps * 1e6


def measure(name):
    epochs = EPOCHS.get(name, 2)
    if name != "fused, two at once":
        implementation = IMPLEMENTATIONS[name]()
        return clocked(lambda: implementation.train_for(epochs), epochs * len(LIST))
    pair = [IMPLEMENTATIONS["fused"](), IMPLEMENTATIONS["fused"]()]
    with ThreadPoolExecutor(2) as pool:
        return clocked(
            lambda: list(pool.map(lambda implementation: implementation.train_for(epochs), pair)),
            2 * epochs * len(LIST),
        )


def main():
    warnings.filterwarnings("ignore")  # warnings of the other libraries
    torch.set_num_threads(1)
    for name in IMPLEMENTATIONS:
        check(name)
    names = [*IMPLEMENTATIONS, "fused, two at once"]
    rounds = [{name: measure(name) for name in names} for _ in range(ROUNDS)]
    rows = []
    for name in names:
        wall, processor = (statistics.median(found[name][clock] for found in rounds) for clock in (0, 1))
        ratios = [statistics.median(found[name][clock] / found["fused"][clock] for found in rounds) for clock in (0, 1)]
        row = {"implementation": name, "wall, µs per step": f"{wall:.0f}", "processor, µs per step": f"{processor:.0f}"}
        rows.append({**row, "× fused, wall": f"{ratios[0]:.2f}", "× fused, processor": f"{ratios[1]:.2f}"})
        print(rows[-1], flush=True)
    text = (
        f"{conditions(f'Numba {numba.__version__}')} (two trainings at once: one thread each). Musk1, "
        f"{len(LIST)} bags of {BAGS.n_instances / len(LIST):.1f} rows on average, one bag per step; medians of "
        f"{ROUNDS} interleaved rounds, ratios taken within a round. Generated by `python benchmarks/small_bags.py`."
    )
    write("small_bags", "Small bags of features: time per training step", text, rows)


if __name__ == "__main__":
    main()
