import numpy as np
import torch

from bagwise.datasets import load_dataset
from bagwise.explain import encoding
from bagwise.explain.encoding import embeddings, exact
from sensible_models import model_of

CPU = torch.device("cpu")
NEEDLES = load_dataset("needles", n_bags=6)
MODEL = model_of(("attention", "embedding", "bernoulli"), shape=NEEDLES.instance_shape, encoder="mlp").float()


def test_pieces_are_the_embeddings_of_a_prediction_in_order(monkeypatch):
    instances = torch.from_numpy(np.array(NEEDLES.instances, dtype=np.float32))
    bags = NEEDLES.replace(instances=instances.numpy())
    MODEL.train()
    monkeypatch.setattr(encoding, "ROWS_AT_ONCE", 4)
    with torch.no_grad():
        pieces = list(embeddings(MODEL, bags, CPU))
        expected = MODEL.eval().encoder(instances)  # dropout is at rest
    assert max(map(len, pieces)) <= 4
    torch.testing.assert_close(torch.cat(pieces), expected.double(), rtol=1e-5, atol=1e-6)


def test_the_mode_of_the_encoder_is_restored():
    MODEL.train()
    bags = NEEDLES.replace(instances=np.array(NEEDLES.instances, dtype=np.float32))
    with torch.no_grad():
        assert not any(MODEL.encoder.training for _ in embeddings(MODEL, bags, CPU))
    assert MODEL.encoder.training


def test_an_exact_copy_is_in_float64_and_leaves_the_part_as_it_was():
    copied = exact(MODEL.pooling)
    assert {value.dtype for value in copied.state_dict().values()} == {torch.float64}
    assert {value.dtype for value in MODEL.pooling.state_dict().values()} == {torch.float32}
    for name, value in MODEL.pooling.state_dict().items():
        torch.testing.assert_close(copied.state_dict()[name], value.double(), rtol=0, atol=0)
