import numpy as np
import pytest
import threadpoolctl
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.pooling.attention import GatedAttention
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import TrainingTask, bags_to_tensors
from bagwise.training.devices import (
    HalfPrecisionEncoder,
    check_precision,
    list_devices,
    resolve_device,
    use_half_precision,
    use_one_thread,
)
from bagwise.training.engines import choice
from bagwise.training.engines.base import TrainingProblem
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.settings import TrainingSettings
from contexts import SelfAttention
from unchecked import unchecked

CPU = torch.device("cpu")
NEEDLES = load_dataset("needles", n_bags=60)


@pytest.fixture(autouse=True)
def _disable_onednn(monkeypatch):
    """Disable oneDNN: its bfloat16 products may terminate a process in a virtual machine; torch's are slow but safe."""
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)


def test_resolve_device_auto_is_available():
    assert list_devices()[resolve_device("auto").type]


def test_resolve_device_accepts_a_torch_device():
    assert resolve_device(CPU) == CPU


def test_resolve_device_rejects_unknown_names_with_the_available_devices():
    with pytest.raises(InputError, match="device 'gpu' is unknown; choose one of: auto, cpu"):
        resolve_device("gpu")


def test_resolve_device_rejects_a_device_that_is_not_available(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="device 'cuda' is not available on this machine; choose one of: auto, cpu"):
        resolve_device("cuda")


@pytest.mark.parametrize("device", [None, 0])
def test_resolve_device_rejects_other_types_with_the_available_devices(device):
    with unchecked(), pytest.raises(InputError, match=rf"device must be a name .*got {device}.*one of: auto, cpu"):
        resolve_device(device)


def test_use_one_thread_limits_all_libraries_and_restores_the_number():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with use_one_thread():
        assert torch.get_num_threads() == 1
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} <= {1}
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize(("device", "supported"), [("cuda", False), ("cuda", True), ("mps", True), ("cpu", True)])
def test_check_precision_accepts_mixed_only_on_cuda_with_bfloat16(monkeypatch, device, supported):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported or including_emulation)
    check_precision("full", torch.device(device))
    if device == "cuda" and supported:
        check_precision("mixed", torch.device(device))
        return
    with pytest.raises(InputError, match=f"uses device '{device}'; use precision='full'"):
        check_precision("mixed", torch.device(device))


def test_training_settings_reject_an_unknown_precision():
    with pytest.raises(InputError, match="precision 'half' is unknown"):
        TrainingSettings(precision="half")


def make_model_and_bags(n_rows=50):
    torch.manual_seed(0)
    model = arrange_embedding_level(
        nn.Sequential(nn.Linear(12, 8), nn.ReLU()), GatedAttention(8, 4, 1), nn.Linear(8, 1)
    )
    rows = np.random.default_rng(0).normal(size=(3 * n_rows, 12)).astype(np.float32)
    return model, Bags.trusted(instances=rows, offsets=np.arange(4) * n_rows)


def compute_gradient(model, bags, precision, memory=np.inf):
    """Return the gradient of one step of the engine with learning rate zero."""
    problem = TrainingProblem(
        model=model,
        likelihood=Bernoulli(),
        task=TrainingTask(bags, np.array([1, 0, 1]), np.ones(3, dtype=np.float32)),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.0),
        seed=0,
        device=CPU,
        memory=memory,
        precision=precision,
    )
    TorchEngine(problem).run([np.arange(3)], first_step=0, learning_rate=0.0)
    return torch.cat([value.grad.reshape(-1) for value in model.parameters()]).double()


def test_half_precision_encoder_multiplies_in_bfloat16_and_returns_float32():
    layer, rows = nn.Linear(12, 8), torch.randn(5, 12)
    expected = rows.bfloat16() @ layer.weight.bfloat16().T + layer.bias.bfloat16()
    embeddings = HalfPrecisionEncoder(layer, "cpu")(rows)
    assert embeddings.dtype == torch.float32
    torch.testing.assert_close(embeddings, expected.float(), rtol=1e-2, atol=1e-2)
    assert torch.equal(embeddings, embeddings.bfloat16().float()), "the products have the precision of bfloat16"
    assert not torch.equal(embeddings, layer(rows))


def test_use_half_precision_shares_the_weights_and_keeps_them_in_float32():
    model, _ = make_model_and_bags()
    shared = {id(value) for value in use_half_precision(model, CPU).parameters()}
    assert shared == {id(value) for value in model.parameters()}
    assert {value.dtype for value in model.parameters()} == {torch.float32}


def test_use_half_precision_keeps_the_context_in_full_precision():
    model, bags = make_model_and_bags()
    tensors = bags_to_tensors(bags, CPU)
    model.context = SelfAttention(model.embed(*tensors).shape[1])
    half = use_half_precision(model, CPU)
    assert half.context is model.context
    assert torch.equal(half.embed(*tensors), model.context(half.encoder(tensors[0]), tensors[1]))


def test_mixed_precision_gradient_differs_from_the_exact_one_by_the_rounding_of_the_encoder_only():
    model, bags = make_model_and_bags()
    mixed = compute_gradient(model, bags, "mixed")
    full = compute_gradient(model, bags, "full")
    doubles = Bags.trusted(instances=bags.instances.astype(float), offsets=bags.offsets)
    exact = compute_gradient(model.double(), doubles, "full")
    assert torch.dist(full, exact) / exact.norm() < 1e-6
    assert 1e-4 < torch.dist(mixed, exact) / exact.norm() < 2e-2  # the relative precision of bfloat16 is 2⁻⁹


def test_mixed_precision_gradient_in_pieces_is_that_of_the_whole_batch():
    """The gradient of the encoder is summed in bfloat16, over all rows or over the rows of each piece."""
    model, bags = make_model_and_bags(n_rows=1500)
    whole = compute_gradient(model, bags, "mixed")
    pieces = compute_gradient(model, bags, "mixed", memory=1.0)
    full = compute_gradient(model, bags, "full")
    after_encoder = slice(sum(value.numel() for value in model.encoder.parameters()), None)
    assert torch.dist(pieces[after_encoder], whole[after_encoder]) / whole[after_encoder].norm() < 1e-5
    difference = torch.dist(pieces[after_encoder], full[after_encoder]) / full[after_encoder].norm()
    assert difference > 5e-5, "both passes use mixed precision"
    assert torch.dist(pieces, whole) / whole.norm() < 2**-8


def test_mixed_precision_training_is_repeatable_and_predicts_in_full_precision(monkeypatch):
    monkeypatch.setattr(choice, "check_precision", lambda precision, device: None)  # allow mixed precision on the CPU
    first, second, full = (
        BagClassifier(
            epochs=20,
            batch_size=8,
            learning_rate=5e-3,
            engine="torch",
            precision=precision,
            validation=None,
            random_state=0,
        ).fit(NEEDLES, NEEDLES.labels)
        for precision in ("mixed", "mixed", "full")
    )
    probabilities = first.predict_proba(NEEDLES)
    np.testing.assert_array_equal(probabilities, second.predict_proba(NEEDLES))
    assert first.score(NEEDLES, NEEDLES.labels) > 0.9
    assert not np.array_equal(probabilities, full.predict_proba(NEEDLES))
    assert not any(isinstance(part, HalfPrecisionEncoder) for part in first.model_.modules())


def test_mixed_precision_is_rejected_by_the_fused_engine(monkeypatch):
    monkeypatch.setattr(choice, "check_precision", lambda precision, device: None)
    model = BagClassifier(engine="fused", precision="mixed", epochs=1)
    with pytest.raises(InputError, match="full precision only"):
        model.fit(NEEDLES, NEEDLES.labels)
