from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from bagwise.data.formats.tables import BagPacker, read_table
from bagwise.errors import InputError

TABLE = "bag,label,case_id,f1,f2\na,1,p,0.5,1\nb,0,q,2,3\na,1,p,4,5\n"


@pytest.fixture
def write(tmp_path):
    def write_text(content, name="table.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write_text


def assert_same_bags(actual, expected):
    for name in ("instances", "offsets", "labels", "names", "groups"):
        np.testing.assert_array_equal(getattr(actual, name), getattr(expected, name))


def test_read_table_recognises_common_column_names(write):
    bags = read_table(write(TABLE))
    assert bags.names.tolist() == ["a", "b"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.groups.tolist() == ["p", "q"]
    np.testing.assert_array_equal(bags.instances, [[0.5, 1], [4, 5], [2, 3]])


def test_read_table_reads_named_columns(write):
    path = write("id,out,note,f1,kind\na,yes,x,1,0\nb,no,y,2,1\na,yes,z,3,1\n")
    bags = read_table(path, bag="id", label="out", instance_label="kind", drop="note")
    assert bags.labels.tolist() == ["yes", "no"]
    assert bags.instance_labels.tolist() == [0, 1, 1]
    assert bags.instance_shape == (1,)


def test_read_table_of_parquet_equals_that_of_csv(write, tmp_path):
    columns = {"bag": ["a", "b", "a"], "label": [1, 0, 1], "case_id": ["p", "q", "p"]}
    table = pyarrow.table({**columns, "f1": [0.5, 2, 4], "f2": [1, 3, 5]})
    parquet.write_table(table, tmp_path / "table.parquet")
    assert_same_bags(read_table(tmp_path / "table.parquet"), read_table(write(TABLE)))


def test_read_table_with_a_table_of_bags_equals_a_single_table(write):
    instances = write("bag,f1,f2\na,0.5,1\nb,2,3\na,4,5\n", "instances.csv")
    labels = write("label,case_id,bag\n0,q,b\n1,p,a\n", "bags.csv")
    assert_same_bags(read_table(instances, bags=labels), read_table(write(TABLE)))


def test_read_table_lists_the_bags_in_only_one_of_two_tables(write):
    instances = write("bag,f1\na,1\nb,2\n", "instances.csv")
    labels = write("bag,label\na,1\nc,0\n", "bags.csv")
    with pytest.raises(InputError, match=r"without a row in .*bags.csv: b; without instances in .*instances.csv: c"):
        read_table(instances, bags=labels)
    with pytest.raises(InputError, match=r"labels in column 'label', but .* with --data-option drop=label"):
        read_table(write(TABLE), bags=labels)


def test_read_table_accepts_a_table_without_labels(write):
    assert read_table(write("bag,f1\na,1\nb,2\n")).labels is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "bag,label,f1\na,1,x\n",
            r"table.csv, line 2, column 'f1' is not a number: 'x'; .* with --data-option drop=f1",
        ),
        ("bag,label,f1\na,1,NaN\n", r"line 2, column 'f1' is empty or NaN \('NaN'\)"),
        ("bag,label,f1\na,1,\n", "line 2, column 'f1' is empty"),
        ("bag,label,f1\na,1,1\nb,0,inf\n", "line 3, column 'f1' is 'inf'"),
        ("bag,label,f1\na,1,1_0\n", "line 2, column 'f1' is not a number"),
        ("bag,label,f1\na,1,1\na,0,2\n", "line 3: bag 'a' has the label '0', but '1' in line 2"),
        ("bag,label,f1\na,,1\n", "line 2: the label is missing"),
        ("bag,label,f1\na,1\n", "line 2 has 2 cells"),
        ("bag,label\na,1\n", "no feature columns"),
        ("bag,label,f1\n", "has no rows"),
        ("id,label,f1\na,1,1\n", "no column with the bag names"),
    ],
)
def test_read_table_reports_the_file_and_the_place(write, content, message):
    with pytest.raises(InputError, match=f"table.csv.*{message}" if "table.csv" not in message else message):
        read_table(write(content))


def test_bag_packer_accepts_the_rows_of_a_bag_in_any_place():
    packer = BagPacker(Path("a.csv"))
    groups = {"a": "1e3", "b": "1000", "c": "7"}
    for number, bag in enumerate("abcab"):
        packer.add(f"line {number}", bag, [number, -number], label=bag, group=groups[bag], instance_label=number)
    bags = packer.bags()
    np.testing.assert_array_equal(bags.instances[:, 0], [0, 3, 1, 4, 2])
    assert bags.names.tolist() == bags.labels.tolist() == ["a", "b", "c"]
    assert bags.groups.tolist() == ["1e3", "1000", "7"], "two patients, although the numbers are equal"
    assert bags.instance_labels.tolist() == [0, 3, 1, 4, 2]


def test_bag_packer_reports_different_labels_and_missing_names_with_their_places():
    packer = BagPacker(Path("a.csv"))
    packer.add("line 2", "a", [1.0], label="yes")
    with pytest.raises(InputError, match=r"a\.csv, line 3: bag 'a' has the label 'no', but 'yes' in line 2"):
        packer.add("line 3", "a", [1.0], label="no")
    with pytest.raises(InputError, match=r"a\.csv, line 4: the bag is missing"):
        packer.add("line 4", "", [1.0], label="no")
    with pytest.raises(InputError, match=r"a\.csv, line 5: the label is missing"):
        packer.add("line 5", "b", [1.0], label="nan")
    with pytest.raises(InputError, match=r"a\.csv has no rows"):
        BagPacker(Path("a.csv")).bags()
