import csv
import io

import pytest

from bagwise.runs import Run
from bagwise.showing.instances import instance_rows
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import ShownRun
from bagwise.viewer.exporting import file_name, instances_csv


@pytest.fixture(scope="module")
def shown(image_runs):
    return ShownRun(Run(image_runs / "attention"))


def test_the_csv_reads_back_to_the_rows(shown):
    layers = Layers(shown)
    for bag in range(len(shown.run.predictions)):  # whatever the bag is called
        rows = list(csv.DictReader(io.StringIO(instances_csv(shown, layers, bag), newline="")))
        expected = [{title: str(value) for title, value in row.items()} for row in instance_rows(shown, layers, bag)]
        assert rows == expected


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\r\nSet-Cookie: x", 'quo"te', "\0", "名前", ".hidden", ""])
def test_a_file_name_holds_nothing_but_plain_letters(name):
    found = file_name(name, "csv")
    assert found.isascii()
    assert not set(found) & set('/\\"\r\n\0;')
    assert not found.startswith(".")
    assert found.endswith(".csv")
