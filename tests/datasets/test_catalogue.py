import pytest

from bagwise.datasets import DATASETS, load_dataset
from bagwise.errors import InputError


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_loads_by_name_with_labels(name):
    bags = load_dataset(name.upper(), n_bags=4)
    assert len(bags) == 4
    assert bags.labels is not None


def test_typos_get_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'needles'"):
        load_dataset("needle")
    with pytest.raises(InputError, match="did you mean 'mean_size'"):
        load_dataset("digits", meansize=3)
