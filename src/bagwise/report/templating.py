"""Templates of pages: every word escaped, nothing left undefined, numbers written in one way."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from bagwise.report.words import interval, number, share


def fill_template(template: str, **content: Any) -> str:
    """The page of a template and its content."""
    environment = Environment(
        loader=PackageLoader("bagwise.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "share": share, "interval": interval}
    return environment.get_template(template).render(**content)
