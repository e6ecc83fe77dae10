import pytest

from bagwise.datasets import DATASETS, full_name, load_dataset
from bagwise.errors import InputError
from real_data import needs_real_data

MADE = [name for name, dataset in DATASETS.items() if dataset.origin is None]
FETCHED = [name for name in DATASETS if name not in MADE]
SMALL = [name for name in FETCHED if name not in ("breast-cancer", "colon-cancer")]  # which have tests of their own


@pytest.mark.parametrize("name", MADE)
def test_every_made_set_loads_by_name_with_labels(name):
    bags = load_dataset(name.upper(), n_bags=4)
    assert len(bags) == 4
    assert bags.labels is not None


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_real_data(name)) for name in SMALL])
def test_every_fetched_set_loads_by_name_in_any_spelling(name):
    bags = load_dataset(name.upper().replace("-", " "))
    assert set(bags.labels.tolist()) == {0, 1}
    assert bags.names is not None


@pytest.mark.parametrize("name", FETCHED)
def test_every_fetched_set_has_an_origin_of_its_own_name(name):
    assert DATASETS[name].origin.name == name == full_name(name.replace("-", "_"))


def test_typos_get_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'needles'"):
        load_dataset("needle")
    with pytest.raises(InputError, match="did you mean 'mean_size'"):
        load_dataset("digits", meansize=3)
    with pytest.raises(InputError, match="musk1 has no option 'seed'; it takes none"):
        load_dataset("musk1", seed=3)
