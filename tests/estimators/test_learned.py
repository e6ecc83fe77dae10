from dataclasses import dataclass

import numpy as np

from bagwise.estimators.learned import from_numbers, numbers_of


@dataclass(frozen=True)
class Line:
    slope: np.ndarray
    intercept: float


@dataclass(frozen=True)
class Drawing:
    line: Line
    n_points: int
    closed: bool
    labels: np.ndarray


def test_nested_arrays_and_numbers_come_back_as_they_were():
    drawing = Drawing(Line(np.array([1.5, -0.0]), 0.1), 3, True, np.array([2, 1], dtype=np.int32))
    numbers = numbers_of(drawing, "learned.")
    assert set(numbers) == {
        *("learned.line.slope", "learned.line.intercept", "learned.n_points", "learned.closed", "learned.labels"),
    }
    again = from_numbers(Drawing, numbers, "learned.")
    assert (again.line.intercept, again.n_points, again.closed) == (0.1, 3, True)
    assert [type(value) for value in (again.line.intercept, again.n_points, again.closed)] == [float, int, bool]
    np.testing.assert_array_equal(again.line.slope, drawing.line.slope)
    assert np.signbit(again.line.slope[1])
    assert again.labels.dtype == np.int32
