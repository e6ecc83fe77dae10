__all__ = [
    "export_run",
    "fill_template",
    "format_interval",
    "list_box_metrics",
    "render_report",
    "summarise_run",
    "write_comparison_page",
    "write_report",
]

from .comparison_page import list_box_metrics, write_comparison_page
from .model_card import export_run
from .page_templates import fill_template, format_interval
from .run_page import render_report, write_report
from .summary import summarise_run
