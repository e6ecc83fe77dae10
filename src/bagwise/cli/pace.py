"""How long the rest takes: at the mean pace of all that was done since the beginning.

Fits of seconds stand beside fits of minutes, and several processes end theirs in bursts: the pace of the last half
minute, which progress bars commonly show, then promises an end that does not come.
"""

import time
from collections.abc import Callable
from datetime import timedelta


class Pace:
    """Hears how much is done, and says how many seconds are left."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: tuple[float, int] | None = None  # when the work began, and what was done before it
        self._heard = (0.0, 0, 0)  # when, how much was done, and of how much

    def hear(self, done: int, total: int) -> None:
        now = self._clock()
        self._begun = self._begun or (now, done)
        self._heard = (now, done, total)

    def left(self) -> float | None:
        """Seconds; they count down until the next is done, and grow again when that one is late."""
        if self._begun is None:
            return None
        (begun, before), (heard, done, total) = self._begun, self._heard
        remaining, done_now = total - done, done - before
        if remaining == 0:
            return 0.0
        if done_now == 0:
            return None
        now = self._clock()
        expected = (heard - begun) / done_now * remaining - (now - heard)
        at_best = (now - begun) / (done_now + 1) * (remaining - 1)  # as if the next were done at this moment
        return max(expected, at_best, 0.0)

    def __rich__(self) -> str:
        """What a progress bar shows; hours, minutes, seconds."""
        left = self.left()
        shown = "-:--:--" if left is None else str(timedelta(seconds=int(left)))
        return f"[progress.remaining]{shown}"
