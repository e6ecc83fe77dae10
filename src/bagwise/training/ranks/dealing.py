"""The bags of a step, dealt to processes by their size, so that all end their part at about the same time."""

import heapq

import numpy as np


def deal(sizes: np.ndarray, n_hands: int) -> list[np.ndarray]:
    """The places of the bags that each hand gets: the largest first, each to the hand that holds least.

    No bag is dropped and none is dealt twice; with fewer bags than hands, some hands are empty.

    >>> [hand.tolist() for hand in deal(np.array([5, 1, 4, 2]), 2)]
    [[0, 1], [2, 3]]
    """
    hands: list[list[int]] = [[] for _ in range(n_hands)]
    held = [(0, number) for number in range(n_hands)]
    for place in np.argsort(-sizes, kind="stable").tolist():
        rows, number = heapq.heappop(held)
        hands[number].append(place)
        heapq.heappush(held, (rows + int(sizes[place]), number))
    return [np.array(sorted(hand), dtype=np.intp) for hand in hands]
