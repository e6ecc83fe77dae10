"""The entrance: many steps in one call, without Python's lock."""

import math
from typing import Any

import numpy as np

from bagwise.training.fused.attending import retreat_attention, weigh
from bagwise.training.fused.compiling import compiled, entrance, sources
from bagwise.training.fused.encoding import encode, retreat, silence
from bagwise.training.fused.heads import retreat_head, score
from bagwise.training.fused.layers import copy
from bagwise.training.fused.losses import judge
from bagwise.training.fused.plan import ATTENTION
from bagwise.training.fused.pooling import pool_embeddings, pool_scores, retreat_embeddings, retreat_scores
from bagwise.training.fused.rules import factors


@compiled
def gather(lessons, room, bags):
    """Lay the rows of the bags end to end; returns how many they are."""
    n_rows = 0
    for place in range(bags.shape[0]):
        start, end = lessons.offsets[bags[place]], lessons.offsets[bags[place] + 1]
        for row in range(start, end):
            copy(lessons.instances[row], room.rows[n_rows])
            n_rows += 1
        room.edges[place + 1] = n_rows
    return n_rows


@compiled
def predict(plan, room, n_bags, n_rows, weights):
    """Fill ``scores``."""
    encode(plan, room, n_rows, weights)
    weigh(plan, room, n_bags, n_rows, weights)
    if plan.instance_level:
        pool_scores(plan, room, n_bags, n_rows, weights)
    else:
        pool_embeddings(plan, room, n_bags)
        score(plan, room, n_bags, weights)


@compiled
def learn(plan, room, n_bags, n_rows, flat, kind, numbers):
    """From ``score_slopes`` to the update of all weights."""
    for number in range(plan.widths.shape[0]):
        start = room.rows.shape[0] * plan.columns[number]
        room.back[start : start + n_rows * plan.widths[number]] = 0
    if plan.instance_level:
        retreat_scores(plan, room, n_bags, n_rows, flat, kind, numbers)
    else:
        retreat_head(plan, room, n_bags, flat, kind, numbers)
        retreat_embeddings(plan, room, n_bags)
    if plan.pooling >= ATTENTION:
        retreat_attention(plan, room, n_bags, n_rows, flat, kind, numbers)
    retreat(plan, room, n_rows, flat, kind, numbers)


def _build(version: str) -> Any:
    """The entrance; ``version`` is part of the key under which its machine code is kept."""

    @entrance
    def steps(plan, rule, flat, lessons, room, order, edges, seed, first_step, done):
        """One step for each batch order[edges[b]:edges[b + 1]]: (loss, errors, batch that diverged or −1, its bag)."""
        assert len(version) > 0
        total, wrong, real = 0.0, 0, flat.weights.dtype.type
        for batch in range(edges.shape[0] - 1):
            bags = order[edges[batch] : edges[batch + 1]]
            n_bags, n_rows, loss, factor = bags.shape[0], gather(lessons, room, bags), 0.0, 1.0 / bags.shape[0]
            silence(plan, room, n_rows, seed, np.uint64(first_step + batch))
            predict(plan, room, n_bags, n_rows, flat.weights)
            for place in range(n_bags):
                slopes, importance = room.score_slopes[place], lessons.importance[bags[place]]
                value, error = judge(
                    room.scores[place], lessons.targets[bags[place]], plan.n_sets, plan.n_scores, slopes
                )
                if not math.isfinite(value):
                    return total, wrong, batch, bags[place]
                loss += value * importance
                wrong += error
                for number in range(slopes.shape[0]):
                    slopes[number] *= importance * factor
            total += loss
            learn(plan, room, n_bags, n_rows, flat, rule.kind, factors(rule, done + batch + 1, real))
        return total, wrong, -1, -1

    return steps


steps = _build(sources())
