import math

from bagwise.training.history import Best, Epoch, exhausted, improves


def record(epoch, loss, error):
    return Epoch(epoch, 1.0, 0.5, loss, error, 1e-3, 0.1)


def test_the_criterion_is_validation_error_plus_loss():
    assert record(1, 0.3, 0.2).criterion == 0.5
    assert record(1, None, None).criterion is None


def test_of_equal_epochs_the_first_is_best():
    best = Best(1, 0.5, {})
    assert improves(record(1, 0.3, 0.2), None)
    assert not improves(record(2, 0.3, 0.2), best)
    assert improves(record(2, 0.2, 0.2), best)
    assert not improves(record(3, math.nan, 0.0), best)
    assert not improves(record(3, None, None), None)


def test_patience_counts_from_the_best_epoch():
    best = Best(3, 0.5, {})
    assert not exhausted(record(7, 1.0, 1.0), best, 5)
    assert exhausted(record(8, 1.0, 1.0), best, 5)
    assert not exhausted(record(8, 1.0, 1.0), best, None)
    assert not exhausted(record(8, 1.0, 1.0), None, 5)
