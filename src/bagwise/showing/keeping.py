"""The few things last asked for are kept, so that memory stays bounded however long one looks around."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Remembers the last ``most`` values; of the threads that ask for one, the first makes it and the others wait.

    >>> squares = Kept(2, lambda number: number**2)
    >>> [squares.get(number) for number in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int, make: Callable[..., Value]) -> None:
        self._most = most
        self._make = make
        self._values: OrderedDict[tuple[Hashable, ...], Future[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, *key: Hashable) -> Value:
        """The value of a key, made now if it is not remembered; a failure is not remembered."""
        with self._lock:
            promised = self._values.get(key)
            mine = promised is None
            promised = self._values.setdefault(key, promised or Future())
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        if mine:
            self._fulfil(key, promised)
        return promised.result()

    def _fulfil(self, key: tuple[Hashable, ...], promised: "Future[Value]") -> None:
        try:
            promised.set_result(self._make(*key))
        except BaseException as error:
            with self._lock:
                self._values.pop(key, None)
            promised.set_exception(error)
