import numpy as np

from bagwise.viewer.differing import MOST_ROWS, SHOWN, differing_features, usual


def test_distances_are_standard_deviations_from_the_mean_of_all_instances():
    draws = np.random.default_rng(0)
    instances = draws.normal(3, 2, (500, 30))
    instances[7, 4] += 100
    found = differing_features(instances[7], usual(instances))
    assert len(found) == SHOWN
    first = found[0]
    column = instances[:, 4]
    assert first["feature"] == 4
    np.testing.assert_allclose(first["deviations"], (column[7] - column.mean()) / column.std(), rtol=1e-12)
    np.testing.assert_allclose([first["value"], first["mean"]], [column[7], column.mean()], rtol=1e-12)
    distances = [abs(each["deviations"]) for each in found]
    assert distances == sorted(distances, reverse=True)


def test_features_that_never_vary_are_left_out():
    instances = np.array([[1.0, 5.0], [2.0, 5.0]])
    assert [each["feature"] for each in differing_features(instances[0], usual(instances))] == [0]


def test_of_many_instances_evenly_spaced_ones_stand_for_all():
    instances = np.arange(5 * MOST_ROWS, dtype=np.float64)[:, None]
    found = usual(instances)
    np.testing.assert_allclose(found.means, instances.mean(), rtol=1e-4)
    np.testing.assert_allclose(found.deviations, instances.std(), rtol=1e-3)
