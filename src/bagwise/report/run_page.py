"""The report of a run: one self-contained HTML page without scripts or network access, in a light and a dark theme.

The run is summarised into a dictionary, figures are rendered as inline SVG, and templates/report.html.j2 is filled.
"""

from pathlib import Path

from bagwise.io import JsonObject, check_writable, write_atomically
from bagwise.report.page_templates import fill_template
from bagwise.report.run_figures import render_figures
from bagwise.report.summary import summarise_run
from bagwise.runs import REPORT, Run
from bagwise.targets import KEY_METRICS


def write_report(run: Run, path: Path | None = None) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    run : Run
        Run to report on.
    path : Path or None, default=None
        File to write; None means report.html in the folder of the run.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    InputError
        If the file cannot be written; this is checked before the run is summarised.
    """
    path = run.folder / REPORT if path is None else path
    check_writable(path)
    page = render_report(summarise_run(run))
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def render_report(summary: JsonObject) -> str:
    """Render the HTML page of a summary.

    Parameters
    ----------
    summary : dict
        Summary of a run, from ``summarise_run``.

    Returns
    -------
    str
        The HTML page.
    """
    return fill_template(
        "report.html.j2",
        **summary,
        key_metric_descriptions=KEY_METRICS,
        figures=render_figures(summary),
    )
