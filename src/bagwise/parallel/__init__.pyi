__all__ = [
    "DaskCluster",
    "ProcessedUnits",
    "RankLostError",
    "Ranks",
    "WorkUnit",
    "assign_bags",
    "check_files_visible",
    "check_workers",
    "get_ranks",
    "join_ranks",
    "map_units",
    "process_units",
    "run_tasks",
]

from .dask_cluster import DaskCluster
from .ranks import RankLostError, Ranks, assign_bags, get_ranks, join_ranks
from .shared_folder import ProcessedUnits, WorkUnit, check_files_visible, map_units, process_units
from .workers import check_workers, run_tasks
