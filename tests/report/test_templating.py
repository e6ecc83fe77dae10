import jinja2
import pytest

from bagwise.report.templating import fill_template


def test_words_are_escaped_and_nothing_is_left_undefined(monkeypatch):
    templates = {"page": "<p>{{ words }} {{ value|number }}</p>"}
    monkeypatch.setattr("bagwise.report.templating.PackageLoader", lambda *place: jinja2.DictLoader(templates))
    assert fill_template("page", words="<b>", value=0.5) == "<p>&lt;b&gt; 0.500</p>"
    with pytest.raises(jinja2.UndefinedError):
        fill_template("page", value=0.5)
