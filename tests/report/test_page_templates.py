import jinja2
import pytest

from bagwise.report.page_templates import fill_template, format_interval, format_number, format_share


def test_fill_template_escapes_text_and_rejects_undefined_variables(monkeypatch):
    templates = {"page": "<p>{{ text }} {{ value|number }}</p>"}
    monkeypatch.setattr("bagwise.report.page_templates.PackageLoader", lambda *folder: jinja2.DictLoader(templates))
    assert fill_template("page", text="<b>", value=0.5) == "<p>&lt;b&gt; 0.500</p>"
    with pytest.raises(jinja2.UndefinedError):
        fill_template("page", value=0.5)


def test_format_share_writes_only_exact_values_as_zero_or_one():
    assert [format_share(value) for value in (0.0, 1e-9, 0.0005, 0.5, 0.99951, 1.0)] == [
        "0",
        "<0.001",
        "0.001",
        "0.500",
        ">0.999",
        "1",
    ]
    assert format_share(0.004, 2) == "<0.01"


def test_format_number_and_format_interval_of_none_are_not_available():
    assert (format_number(None), format_interval(None)) == ("n/a", "n/a")
