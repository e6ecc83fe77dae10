__all__ = [
    "FOLDS",
    "MAJORITY",
    "PARTS",
    "Comparison",
    "ComparisonPlan",
    "RankedMethod",
    "Ranking",
    "choose_metrics",
    "compare_methods",
    "describe_ranking",
    "get_unit_path",
    "list_worse_than_majority",
    "make_difference_rows",
    "make_latex_table",
    "make_plan",
    "make_score_rows",
    "rank_methods",
]

from .comparison_folder import PARTS, Comparison, get_unit_path
from .plan import FOLDS, ComparisonPlan, make_plan
from .ranking import MAJORITY, RankedMethod, Ranking, describe_ranking, list_worse_than_majority, rank_methods
from .runner import compare_methods
from .score_tables import choose_metrics, make_difference_rows, make_latex_table, make_score_rows
