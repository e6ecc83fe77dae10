"""HTML templates: text is escaped, undefined variables raise an error, and numbers have a common format."""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def fill_template(template: str, **content: Any) -> str:
    """Fill a template of this package.

    Parameters
    ----------
    template : str
        File name in ``templates/``.
    **content : Any
        Variables of the template, by name.

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
    """Format a metric; None, for undefined, becomes n/a.

    >>> format_number(0.97), format_number(None)
    ('0.970', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{digits}f}"


def format_share(value: float, digits: int = 3) -> str:
    """Format a probability or weight; only exactly 0 and 1 are written as 0 and 1.

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
    """Format an interval; None, for undefined, becomes n/a.

    Parameters
    ----------
    bounds : sequence of float, or None
        Lower and upper bound.
    digits : int, default=3
        Number of decimals.

    Returns
    -------
    str
        The interval as text.

    Examples
    --------
    >>> format_interval((-0.0851, 0.15))
    '−0.085 to 0.150'
    """
    return "n/a" if bounds is None else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}".replace("-", "−")
