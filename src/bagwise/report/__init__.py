"""A run → one HTML page that stands alone."""

from bagwise.report.page import render, write_report

__all__ = ["render", "write_report"]
