import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.models import BagModel
from bagwise.pooling import Pooled, Pooling
from bagwise.training.streaming.pieces import pieces
from bagwise.training.streaming.terms import streams, terms_of
from sensible_models import every, model_of


class Foreign(Pooling):
    title = "foreign"

    def forward(self, values, offsets):
        return Pooled(values[offsets[:-1]], torch.ones(len(values), 1))


@every
def test_every_pooling_of_the_table_can_be_read_in_pieces(case):
    assert streams(model_of(case))


def test_a_pooling_that_somebody_else_wrote_and_other_models_may_not():
    assert not streams(BagModel(nn.Identity(), Foreign(), nn.Identity()))
    assert not streams(nn.Identity())


def test_terms_are_those_of_the_encoded_rows():
    model = model_of(("attention", "embedding", "bernoulli")).double().eval()
    bags = Bags.from_list([np.random.default_rng(1).normal(size=(size, 4)) for size in (2, 3)])
    (piece,) = pieces(bags, np.array([1, 0]), most=9)
    terms, offsets = terms_of(model, piece, torch.device("cpu"))
    embeddings = model.encoder(torch.from_numpy(bags.instances[[2, 3, 4, 0, 1]]))
    torch.testing.assert_close(terms.rows, embeddings)
    torch.testing.assert_close(terms.exponents, model.pooling.relevance(embeddings))
    assert offsets.tolist() == [0, 3, 5]
