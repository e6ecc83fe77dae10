__all__ = [
    "FITS",
    "FLOORS",
    "PAGE",
    "RECIPES",
    "RESULTS",
    "TABLE1_SELECTION",
    "TEXT",
    "Published",
    "Recipe",
    "Result",
    "Setting",
    "apply_all_protocols",
    "check_floors",
    "collect_means",
    "count_bags",
    "make_fit_rows",
    "make_floor_rows",
    "make_result_rows",
    "make_table1_network",
    "plot_paper_figures",
    "read_published",
    "read_results",
    "render_markdown",
    "reproduce_experiment",
    "write_reproduction_page",
    "write_results",
]

from .experiments import Recipe, Setting
from .floors import check_floors, make_floor_rows
from .paper_figures import plot_paper_figures
from .protocols import apply_all_protocols
from .published import Published, read_published
from .recipes import RECIPES, TABLE1_SELECTION, make_table1_network
from .reproduction import reproduce_experiment
from .reproduction_page import FITS, FLOORS, PAGE, RESULTS, TEXT, write_reproduction_page, write_results
from .result_tables import render_markdown
from .results import Result, collect_means, count_bags, make_fit_rows, make_result_rows, read_results
