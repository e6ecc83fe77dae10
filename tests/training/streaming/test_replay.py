import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.dropout import Dropout
from bagwise.models import embedding_level
from bagwise.places import Place, set_place
from bagwise.pooling import Mean
from bagwise.training.streaming.replay import Replay

CPU = torch.device("cpu")
BAGS = Bags.from_list([np.ones((size, 6)) for size in (5, 2, 1)])
CHOSEN = np.array([2, 0, 1])


def model_of(drawing):
    return embedding_level(drawing, Mean(), nn.Identity()).train()


def drawn(model, replay):
    return torch.cat([model.encoder(torch.ones(piece.bags.n_instances, 6)) for piece in replay])


def test_counted_draws_are_those_of_the_whole_batch_every_time():
    model = model_of(Dropout(0.5))
    set_place(model, Place(3, 9))
    whole = model.encoder(torch.ones(8, 6))
    for most in (1, 2, 4):
        replay = Replay(model, BAGS, CHOSEN, CPU, most)
        for _ in range(2):
            torch.testing.assert_close(drawn(model, replay), whole, rtol=0, atol=0)
    assert model.encoder.place == Place(3, 9)
    assert model.encoder.uses == 0


def test_draws_of_others_are_the_same_every_time_differ_between_pieces_and_leave_the_generator_alone():
    model = model_of(nn.Dropout(0.5))
    replay = Replay(model, BAGS, CHOSEN, CPU, 2)
    before = torch.get_rng_state()
    first = drawn(model, replay)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)  # as a head may, between the two passes
    torch.testing.assert_close(drawn(model, replay), first, rtol=0, atol=0)
    assert not torch.equal(first[1:3], first[3:5])


def test_another_batch_draws_other_numbers():
    model = model_of(nn.Dropout(0.5))
    first, second = (drawn(model, Replay(model, BAGS, CHOSEN, CPU, 2)) for _ in range(2))
    assert not torch.equal(first, second)
