import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from bagwise.training.fused import compiling


@compiling.compiled
def quotient_sum(values):
    total = 0.0
    for value in values:
        total += 1.0 / value
    return total


@compiling.entrance
def entered(values):
    return quotient_sum(values)


def test_infinities_and_nan_keep_their_meaning():
    """Kernels may reorder sums, but a division by zero or a NaN must still reach the loss."""
    assert entered(np.array([1.0, 2.0])) == 1.5
    assert entered(np.array([1.0, 0.0])) == np.inf
    assert np.isnan(entered(np.array([1.0, np.nan])))


def test_a_view_may_be_returned_by_what_becomes_part_of_its_caller():
    @compiling.inlined
    def tail(values):
        return values[1:]

    @njit
    def total(values):
        return tail(values).sum()

    assert total(np.arange(4.0)) == 6.0


def test_the_key_of_the_cache_changes_with_any_file_of_the_folder(monkeypatch, tmp_path):
    (tmp_path / "one.py").write_text("a = 1")
    (tmp_path / "two.py").write_text("b = 1")
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "one.py"))
    before = compiling.sources()
    assert compiling.sources() == before
    (tmp_path / "two.py").write_text("b = 2")
    assert compiling.sources() != before
