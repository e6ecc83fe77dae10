import numpy as np
import pytest
import torch
from torch import nn

from bagwise import BagClassifier, load_dataset
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.likelihoods import Bernoulli
from bagwise.models import embedding_level
from bagwise.pooling import GatedAttention
from bagwise.training.engines import Problem, TorchEngine, choosing
from bagwise.training.precision import Halved, check_precision, halve
from bagwise.training.settings import TrainingSettings
from bagwise.training.tasks import Task

CPU = torch.device("cpu")
NEEDLES = load_dataset("needles", n_bags=60)


@pytest.fixture(autouse=True)
def _products_of_torch(monkeypatch):
    """oneDNN's products of bfloat16 may end a process in a virtual machine; torch's own are slow, and sure."""
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)


def model_and_bags(n_rows=50):
    torch.manual_seed(0)
    model = embedding_level(nn.Sequential(nn.Linear(12, 8), nn.ReLU()), GatedAttention(8, 4, 1), nn.Linear(8, 1))
    rows = np.random.default_rng(0).normal(size=(3 * n_rows, 12)).astype(np.float32)
    return model, Bags.trusted(instances=rows, offsets=np.arange(4) * n_rows)


def gradient(model, bags, precision, memory=np.inf):
    """After one step of the slowest descent."""
    task = Task(bags, np.array([1, 0, 1]), np.ones(3, dtype=np.float32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    engine = TorchEngine(Problem(model, Bernoulli(), task, optimizer, 0, CPU, memory, precision=precision))
    engine.run([np.arange(3)], first_step=0, learning_rate=0.0)
    return torch.cat([value.grad.reshape(-1) for value in model.parameters()]).double()


def test_products_are_of_bfloat16_and_embeddings_of_float32():
    layer, rows = nn.Linear(12, 8), torch.randn(5, 12)
    by_hand = rows.bfloat16() @ layer.weight.bfloat16().T + layer.bias.bfloat16()
    found = Halved(layer, "cpu")(rows)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, by_hand.float(), rtol=1e-2, atol=1e-2)
    assert torch.equal(found, found.bfloat16().float()), "eight bits of each product"
    assert not torch.equal(found, layer(rows))


def test_weights_are_shared_and_stay_whole():
    model, _ = model_and_bags()
    theirs = {id(value) for value in halve(model, CPU).parameters()}
    assert theirs == {id(value) for value in model.parameters()}
    assert {value.dtype for value in model.parameters()} == {torch.float32}


def test_the_gradient_is_that_of_double_precision_but_for_the_rounding_of_the_encoder():
    model, bags = model_and_bags()
    mixed = gradient(model, bags, "mixed")
    full = gradient(model, bags, "full")
    exact = gradient(model.double(), Bags.trusted(instances=bags.instances.astype(float), offsets=bags.offsets), "full")
    assert torch.dist(full, exact) / exact.norm() < 1e-6
    assert 1e-4 < torch.dist(mixed, exact) / exact.norm() < 2e-2  # a bfloat16 is right to 2⁻⁹ of itself


def test_bags_that_are_read_in_pieces_have_the_same_gradient():
    """By the encoder's weights it is a sum of bfloat16 over all rows, or over those of each piece."""
    model, bags = model_and_bags(n_rows=1500)
    whole, pieces, full = (gradient(model, bags, *how) for how in (("mixed", np.inf), ("mixed", 1.0), ("full", np.inf)))
    behind = slice(sum(value.numel() for value in model.encoder.parameters()), None)
    assert torch.dist(pieces[behind], whole[behind]) / whole[behind].norm() < 1e-5
    assert torch.dist(pieces[behind], full[behind]) / full[behind].norm() > 5e-5, "both passes are mixed"
    assert torch.dist(pieces, whole) / whole.norm() < 2**-8


def test_a_model_learns_the_same_each_time_and_predicts_in_full_precision(monkeypatch):
    monkeypatch.setattr(choosing, "check_precision", lambda precision, device: None)  # the CPU plays a GPU
    first, second, full = (
        BagClassifier(epochs=20, learning_rate=2e-3, engine="torch", precision=precision, random_state=0).fit(
            NEEDLES, NEEDLES.labels
        )
        for precision in ("mixed", "mixed", "full")
    )
    found = first.predict_proba(NEEDLES)
    np.testing.assert_array_equal(found, second.predict_proba(NEEDLES))
    assert first.score(NEEDLES, NEEDLES.labels) > 0.9
    assert not np.array_equal(found, full.predict_proba(NEEDLES))
    assert not any(isinstance(part, Halved) for part in first.model_.modules())


def test_the_fused_engine_says_that_it_cannot(monkeypatch):
    monkeypatch.setattr(choosing, "check_precision", lambda precision, device: None)
    model = BagClassifier(engine="fused", precision="mixed", epochs=1)
    with pytest.raises(InputError, match="full precision"):
        model.fit(NEEDLES, NEEDLES.labels)


def test_an_unknown_precision_is_refused():
    with pytest.raises(InputError, match="precision 'half' is unknown"):
        TrainingSettings(precision="half")


@pytest.mark.parametrize(("device", "computes"), [("cuda", False), ("cuda", True), ("mps", True), ("cpu", True)])
def test_a_device_without_bfloat16_is_refused(monkeypatch, device, computes):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: computes or including_emulation)
    check_precision("full", torch.device(device))
    if device == "cuda" and computes:
        check_precision("mixed", torch.device(device))
        return
    with pytest.raises(InputError, match=f"computes on {device}; use precision 'full'"):
        check_precision("mixed", torch.device(device))
