import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from bagwise.errors import InputError
from bagwise.formats.tables import read_table

GOOD = "bag,label,case_id,f1,f2\na,1,p,0.5,1\nb,0,q,2,3\na,1,p,4,5\n"


@pytest.fixture
def write(tmp_path):
    def written(content, name="table.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return written


def same(one, other):
    for name in ("instances", "offsets", "labels", "names", "groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_csv_is_read_with_usual_names(write):
    bags = read_table(write(GOOD))
    assert bags.names.tolist() == ["a", "b"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.groups.tolist() == ["p", "q"]
    np.testing.assert_array_equal(bags.instances, [[0.5, 1], [4, 5], [2, 3]])


def test_a_csv_is_read_with_named_columns(write):
    path = write("id,out,note,f1,kind\na,yes,x,1,0\nb,no,y,2,1\na,yes,z,3,1\n")
    bags = read_table(path, bag="id", label="out", instance_label="kind", drop="note")
    assert bags.labels.tolist() == ["yes", "no"]
    assert bags.instance_labels.tolist() == [0, 1, 1]
    assert bags.instance_shape == (1,)


def test_parquet_gives_the_same_as_csv(write, tmp_path):
    columns = {"bag": ["a", "b", "a"], "label": [1, 0, 1], "case_id": ["p", "q", "p"]}
    table = pyarrow.table({**columns, "f1": [0.5, 2, 4], "f2": [1, 3, 5]})
    parquet.write_table(table, tmp_path / "table.parquet")
    same(read_table(tmp_path / "table.parquet"), read_table(write(GOOD)))


def test_two_tables_joined_give_the_same_as_one(write):
    instances = write("bag,f1,f2\na,0.5,1\nb,2,3\na,4,5\n", "instances.csv")
    labels = write("label,case_id,bag\n0,q,b\n1,p,a\n", "bags.csv")
    same(read_table(instances, bags=labels), read_table(write(GOOD)))


def test_bags_of_only_one_of_two_tables_are_both_listed(write):
    instances = write("bag,f1\na,1\nb,2\n", "instances.csv")
    labels = write("bag,label\na,1\nc,0\n", "bags.csv")
    with pytest.raises(InputError, match=r"without a row in .*bags.csv: b; without instances in .*instances.csv: c"):
        read_table(instances, bags=labels)
    with pytest.raises(InputError, match="although they come from the table of bags"):
        read_table(write(GOOD), bags=labels)


def test_a_table_may_have_no_labels(write):
    assert read_table(write("bag,f1\na,1\nb,2\n")).labels is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("bag,label,f1\na,1,x\n", r"table.csv, line 2, column 'f1' is not a number: 'x'"),
        ("bag,label,f1\na,1,NaN\n", r"line 2, column 'f1' is empty or NaN \('NaN'\)"),
        ("bag,label,f1\na,1,\n", "line 2, column 'f1' is empty"),
        ("bag,label,f1\na,1,1\nb,0,inf\n", "line 3, column 'f1' is 'inf'"),
        ("bag,label,f1\na,1,1_0\n", "line 2, column 'f1' is not a number"),
        ("bag,label,f1\na,1,1\na,0,2\n", "line 3: bag 'a' has the label '0', but '1' in line 2"),
        ("bag,label,f1\na,,1\n", "line 2: the label is missing"),
        ("bag,label,f1\na,1\n", "line 2 has 2 cells"),
        ("bag,label\na,1\n", "no feature columns"),
        ("bag,label,f1\n", "has no rows"),
        ("id,label,f1\na,1,1\n", "no column that names the bags"),
    ],
)
def test_a_bad_csv_is_refused_with_the_place(write, content, message):
    with pytest.raises(InputError, match=message):
        read_table(write(content))
