__all__ = [
    "ROWS_PER_PIECE",
    "MemoryBudget",
    "RowCollector",
    "cut_pieces",
    "get_additive_pooling",
    "is_streamable",
    "resolve_memory",
    "stream_prediction",
    "stream_scores",
]

from .gradient import stream_scores
from .memory import ROWS_PER_PIECE, MemoryBudget, resolve_memory
from .pieces import RowCollector, cut_pieces, get_additive_pooling, is_streamable
from .prediction import stream_prediction
