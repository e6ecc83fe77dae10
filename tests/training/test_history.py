import math

from bagwise.training.history import Best, Epoch, is_improvement, is_patience_exhausted


def make_record(epoch, validation_loss, validation_error):
    return Epoch(
        epoch=epoch,
        loss=1.0,
        error=0.5,
        validation_loss=validation_loss,
        validation_error=validation_error,
        learning_rate=1e-3,
        seconds=0.1,
    )


def test_criterion_is_validation_error_plus_loss():
    assert make_record(1, 0.3, 0.2).criterion == 0.5
    assert make_record(1, None, None).criterion is None


def test_is_improvement_prefers_the_first_of_equal_epochs():
    best = Best(1, 0.5, {})
    assert is_improvement(make_record(1, 0.3, 0.2), None)
    assert not is_improvement(make_record(2, 0.3, 0.2), best)
    assert is_improvement(make_record(2, 0.2, 0.2), best)
    assert not is_improvement(make_record(3, math.nan, 0.0), best)
    assert not is_improvement(make_record(3, None, None), None)


def test_is_patience_exhausted_counts_from_the_best_epoch():
    best = Best(3, 0.5, {})
    assert not is_patience_exhausted(make_record(7, 1.0, 1.0), best, 5)
    assert is_patience_exhausted(make_record(8, 1.0, 1.0), best, 5)
    assert not is_patience_exhausted(make_record(8, 1.0, 1.0), best, None)
    assert not is_patience_exhausted(make_record(8, 1.0, 1.0), None, 5)
