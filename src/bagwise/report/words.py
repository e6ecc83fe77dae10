"""Numbers as the page writes them; what is not defined is n/a."""

from collections.abc import Sequence


def number(value: float | None, digits: int = 3) -> str:
    """A metric as words.

    >>> number(0.97), number(None)
    ('0.970', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{digits}f}"


def share(value: float, digits: int = 3) -> str:
    """A probability or weight, which is written as 0 or 1 only when it is just that.

    >>> share(0.9999), share(0.0002), share(1.0), share(0.25)
    ('>0.999', '<0.001', '1', '0.250')
    """
    least = 10**-digits
    if value in (0, 1):
        return str(int(value))
    if value < least / 2:
        return f"<{least:.{digits}f}"
    return f">{1 - least:.{digits}f}" if value > 1 - least / 2 else f"{value:.{digits}f}"


def interval(bounds: Sequence[float] | None, digits: int = 3) -> str:
    """Both ends of an interval, or n/a.

    >>> interval((-0.0851, 0.15))
    '−0.085 to 0.150'
    """
    return "n/a" if bounds is None else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}".replace("-", "−")
