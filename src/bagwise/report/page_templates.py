"""Templates of pages: all text is escaped, undefined variables are errors, numbers are formatted in one way."""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def fill_template(template: str, **content: Any) -> str:
    """Fill a template of this package.

    Parameters
    ----------
    template : str
        File name in ``templates/``.
    **content
        Variables of the template.

    Returns
    -------
    str
        The page.
    """
    environment = Environment(
        loader=PackageLoader("bagwise.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": format_number, "share": format_share, "interval": format_interval}
    return environment.get_template(template).render(**content)


def format_number(value: float | None, digits: int = 3) -> str:
    """Format a metric, or n/a where it is undefined.

    >>> format_number(0.97), format_number(None)
    ('0.970', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{digits}f}"


def format_share(value: float, digits: int = 3) -> str:
    """Format a probability or weight; only exact values are written as 0 or 1.

    >>> format_share(0.9999), format_share(0.0002), format_share(1.0), format_share(0.25)
    ('>0.999', '<0.001', '1', '0.250')
    """
    smallest = 10**-digits
    if value in (0, 1):
        return str(int(value))
    if value < smallest / 2:
        return f"<{smallest:.{digits}f}"
    return f">{1 - smallest:.{digits}f}" if value > 1 - smallest / 2 else f"{value:.{digits}f}"


def format_interval(bounds: Sequence[float] | None, digits: int = 3) -> str:
    """Format an interval, or n/a where it is undefined.

    Parameters
    ----------
    bounds : sequence of two floats, or None
    digits : int, default=3

    Returns
    -------
    str

    Examples
    --------
    >>> format_interval((-0.0851, 0.15))
    '−0.085 to 0.150'
    """
    return "n/a" if bounds is None else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}".replace("-", "−")
