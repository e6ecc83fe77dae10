from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats.columns import assign

PATH = Path("table.csv")


def test_usual_names_are_found_and_names_of_instances_are_no_features():
    found = assign(PATH, ["Slide_ID", "case_id", "instance_id", "Label", "f1", "f2"], {})
    assert found == ("Slide_ID", "Label", "case_id", None, ["f1", "f2"])


def test_named_columns_win_and_dropped_ones_are_gone():
    found = assign(PATH, ["bag", "id", "f1", "f2"], {"bag": "id"}, drop={"bag"})
    assert (found.bag, found.features) == ("id", ["f1", "f2"])


@pytest.mark.parametrize(
    ("header", "given", "drop", "message"),
    [
        (["f1", "f2"], {}, (), "no column that names the bags; say which one with bag=NAME: f1, f2"),
        (["bag", "f1"], {"label": "lable"}, (), "no column 'lable'"),
        (["bag", "slide_id", "f1"], {}, (), "say bag=bag or bag=slide_id"),
        (["bag", "label", "y"], {}, (), "label=label or label=y"),
        (["bag", "f1"], {}, ("f9",), "no column 'f9'"),
    ],
)
def test_what_cannot_be_assigned_is_told(header, given, drop, message):
    with pytest.raises(InputError, match=message):
        assign(PATH, header, given, drop)
