from torch import nn

from bagwise.dropout import Dropout
from bagwise.places import Place, set_place


def test_every_drawing_module_is_told_its_number_and_the_place():
    model = nn.Sequential(Dropout(0.5), nn.Linear(2, 2), nn.Sequential(nn.ReLU(), Dropout(0.1)))
    set_place(model, Place(seed=3, step=7))
    first, second = model[0], model[2][1]
    assert (first.layer, second.layer) == (0, 1)
    assert first.place == second.place == Place(3, 7, 0)
    assert [first.count_use(), first.count_use(), second.count_use()] == [0, 1, 0]
    set_place(model, Place(seed=3, step=8))
    assert first.count_use() == 0
    set_place(model, None)
    assert first.place is None
