__all__ = [
    "FOLDS",
    "PARTS",
    "Comparison",
    "ComparisonPlan",
    "choose_metrics",
    "compare_methods",
    "get_unit_path",
    "make_difference_rows",
    "make_latex_table",
    "make_plan",
    "make_score_rows",
]

from .comparison_folder import PARTS, Comparison, get_unit_path
from .plan import FOLDS, ComparisonPlan, make_plan
from .runner import compare_methods
from .score_tables import choose_metrics, make_difference_rows, make_latex_table, make_score_rows
