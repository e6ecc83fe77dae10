"""A mapped folder of any size is trained on, evaluated, explained and compared in 400 MB of private memory."""

import pytest

from faults.cohort_commands import complete_within
from faults.memory_limit import needs_linux
from faults.sparse_cohort import ROWS, WIDTH, write_sparse_cohort

BOUND = 400_000_000  # bytes above the warmed-up process
GIGABYTE, TWENTY_GIGABYTES = (size // (2 * ROWS * WIDTH) + 1 for size in (1 << 30, 20 << 30))


@pytest.fixture
def folders(request, tmp_path):
    write_sparse_cohort(tmp_path / "small", 12)
    write_sparse_cohort(tmp_path / "cohort", request.param)
    for name in ("small", "cohort"):
        (tmp_path / "out" / name).mkdir(parents=True)
    return tmp_path / "small", tmp_path / "cohort", tmp_path / "out"


@needs_linux
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "folders", [GIGABYTE, pytest.param(TWENTY_GIGABYTES, marks=pytest.mark.full)], ids=["1 GB", "20 GB"], indirect=True
)
def test_commands_on_a_cohort_complete_in_little_memory(folders):
    assert complete_within(BOUND, *folders, "train", "evaluate", "explain", "compare")


@needs_linux
@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("folders", [GIGABYTE], ids=["1 GB"], indirect=True)
def test_train_with_validation_on_a_cohort_completes_in_little_memory(folders):
    assert complete_within(BOUND, *folders, "train_with_validation")


@needs_linux
@pytest.mark.parametrize("folders", [GIGABYTE], ids=["1 GB"], indirect=True)
def test_memory_limit_prevents_a_copy_of_the_cohort(folders):
    assert not complete_within(BOUND, *folders, "copy_all")
