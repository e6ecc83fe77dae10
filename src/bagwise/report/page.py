"""A run → one HTML page that stands alone: no script, no network, light or dark as the reader's screen is.

summarise → plain dictionary → figures as inline SVG → templates/report.html.j2.
"""

from pathlib import Path

from bagwise.files import atomic, check_writable
from bagwise.metric_names import KEY_METRICS, METRICS
from bagwise.report.drawings import draw_figures
from bagwise.report.templating import fill_template
from bagwise.runs import REPORT, Run
from bagwise.summary import Plain, summarise


def write_report(run: Run, path: Path | None = None) -> Path:
    """Write the report of a run, by default as report.html in its folder, and say where."""
    path = run.folder / REPORT if path is None else path
    check_writable(path)
    page = render(summarise(run))
    with atomic(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def render(summary: Plain) -> str:
    """The page of a summary."""
    words = {"metric_words": METRICS, "key_metric_words": KEY_METRICS}
    return fill_template("report.html.j2", **summary, **words, drawings=draw_figures(summary))
