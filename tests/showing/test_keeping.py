import threading
import time

import pytest

from bagwise.showing.keeping import Kept


def test_the_last_few_are_remembered_and_the_oldest_forgotten():
    made = []
    kept = Kept(2, lambda key: made.append(key) or key)
    for key in (1, 2, 1, 3, 1, 2):  # 1 is asked for again before 3 comes, so that 2 is the oldest then
        assert kept.get(key) == key
    assert made == [1, 2, 3, 2]
    assert len(kept) == 2


def test_one_thread_makes_a_value_and_the_others_wait_for_it():
    made = []

    def slowly(key):
        time.sleep(0.05)
        made.append(key)
        return object()

    kept, found = Kept(4, slowly), []
    threads = [threading.Thread(target=lambda: found.append(kept.get("key"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["key"]
    assert len({id(value) for value in found}) == 1


def test_values_of_other_keys_are_not_waited_for():
    begun, may_end = threading.Event(), threading.Event()

    def make(key):
        if key == "slow":
            begun.set()
            may_end.wait(10)
        return key

    kept = Kept(4, make)
    thread = threading.Thread(target=kept.get, args=["slow"])
    thread.start()
    begun.wait(10)
    assert kept.get("quick") == "quick"
    may_end.set()
    thread.join()


def test_a_failure_is_told_and_tried_again():
    answers = iter([ValueError("not yet"), "there"])

    def make():
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    kept = Kept(2, make)
    with pytest.raises(ValueError, match="not yet"):
        kept.get()
    assert kept.get() == "there"
