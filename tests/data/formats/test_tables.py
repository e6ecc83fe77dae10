from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet

from bagwise.data.formats import tables
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


def test_read_table_parses_blocks_of_lines_as_python_parses_each_cell(write, monkeypatch):
    generator = np.random.default_rng(0)
    values = generator.normal(size=(200, 30)) * 10.0 ** generator.integers(-300, 300, (200, 30))
    texts = [[repr(float(value)) for value in row] for row in values]
    lines = [f"{number // 4},{','.join(row)},{number // 4 % 2}" for number, row in enumerate(texts)]
    header = ",".join(["bag", *(f"f{column}" for column in range(30)), "label"])
    path = write("\n".join([header, *lines]) + "\n")
    monkeypatch.setattr(tables, "VALUES_PER_BLOCK", 1000)  # several blocks
    monkeypatch.setattr(tables, "_parse_features", None)  # no cell is parsed on its own
    bags = read_table(path)
    np.testing.assert_array_equal(bags.instances, values)
    assert bags.labels.tolist() == [number % 2 for number in range(50)]


@pytest.mark.parametrize("cell", ['"4"', " 4 ", "٤", "4e0"])
def test_read_table_accepts_the_same_numbers_in_blocks_and_in_cells(write, cell):
    bags = read_table(write(TABLE.replace("p,4,5", f"p,{cell},5")))
    np.testing.assert_array_equal(bags.instances, [[0.5, 1], [4, 5], [2, 3]])


@pytest.mark.parametrize("cell", ["", "nan", "inf", "1e999", "1_000", "0x10", "x", "1 2", "#"])
def test_read_table_names_the_line_and_column_of_a_cell_in_a_block(write, cell):
    with pytest.raises(InputError, match=r"table\.csv, line 4, column 'f1'"):
        read_table(write(TABLE.replace("p,4,5", f"p,{cell},5")))


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


WIDE = 'bag,patient,a,b,"c,d",months,died,x\n' + "".join(
    f"{bag},p{bag},{labels},{x}\n"
    for x, (bag, labels) in enumerate(
        [("m", "1,,0,3,yes"), ("n", "0,2.5,1,12.5,No"), ("m", "1.0,,0,3.0,TRUE"), ("o", "1,1,1,7,0")]
    )
)
SURVIVAL = {"time": "months", "event": "died", "drop": ["a", "b", "c,d"]}


def drop_others(options):
    """Return the columns of labels that are not used."""
    used = str([*options.values()])
    return [name for name in ("a", "b", "c,d", "months", "died") if f"'{name}'" not in used]


def test_read_table_reads_several_labels_and_empty_cells_as_nan(write):
    bags = read_table(write(WIDE), label=["a", "b"], drop=["c,d", "months", "died"])
    np.testing.assert_array_equal(bags.labels, [[1, np.nan], [0, 2.5], [1, 1]])
    assert (bags.label_names, bags.feature_names) == (("a", "b"), ("x",))


def test_read_table_reads_time_with_event_or_censorship(write):
    bags = read_table(write(WIDE), **SURVIVAL)
    assert bags.labels.tolist() == [(True, 3.0), (False, 12.5), (False, 7.0)]
    assert bags.feature_names == ("x",)
    censored = read_table(write(WIDE), **{**SURVIVAL, "event": None, "censorship": "died"})
    assert censored.labels["event"].tolist() == [False, True, True]


def test_read_table_of_parquet_and_of_two_tables_equals_that_of_one(write, tmp_path):
    path = write(WIDE)
    frame = pd.read_csv(path)
    frame["died"] = frame["died"].str.lower().isin(["yes", "true"])
    frame.to_parquet(tmp_path / "table.parquet")
    per_bag = frame.drop(columns="x").drop_duplicates("bag").assign(a=lambda table: table["a"].astype(bool))
    per_bag.iloc[::-1].to_csv(tmp_path / "bags.csv", index=False)
    frame[["bag", "x"]].to_csv(tmp_path / "rows.csv", index=False)
    for options in ({"label": ["a", "b"], "drop": ["c,d", "months", "died"]}, SURVIVAL):
        one = read_table(path, **options)
        parquet = read_table(tmp_path / "table.parquet", **options)
        two = read_table(tmp_path / "rows.csv", bags=tmp_path / "bags.csv", **{**options, "drop": ()})
        for bags in (parquet, two):
            np.testing.assert_array_equal(bags.labels, one.labels)
            assert bags.labels.dtype == one.labels.dtype
            assert (bags.label_names, bags.names.tolist()) == (one.label_names, one.names.tolist())


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        ("m,pm,1,x,0,3,1,5", {"label": ["a", "b"]}, "line 6, column 'b' is not a number: 'x'"),
        ("m,pm,0,,0,3,1,5", {"label": ["a", "b"]}, "line 6: bag 'm' has the label a '0.0', but '1.0' in line 2"),
        ("m,pm,1,2,0,3,1,5", {"label": ["a", "b"]}, "line 6: bag 'm' has the label b '2.0', but 'nan' in line 2"),
        ("m,pm,1,,0,0,1,5", {"time": "months", "event": "died"}, "line 6, column 'months' is '0'; a time must be"),
        ("m,pm,1,,0,,1,5", {"time": "months", "event": "died"}, "line 6, column 'months' is empty or NaN"),
        ("m,pm,1,,0,3,dead,5", {"time": "months", "event": "died"}, "line 6, column 'died': 'dead' is not 0 or 1"),
        ("m,pm,1,,0,3,,5", {"time": "months", "event": "died"}, "line 6, column 'died' is empty"),
        ("m,pm,1,,0,3,0,5", {"time": "months", "event": "died"}, "bag 'm' has the event 'False', but 'True' in line 2"),
        ("m,pm,1,,0,3,1,5", {"label": ["a", "z"]}, "no column 'z' .--data-option label=z"),
        ("m,pm,1,,0,3,1,5", {"label": ["a", "a"]}, "must name different columns"),
        (
            "m,pm,1,,0,3,1,5",
            {"time": "months"},
            "name one of --data-option event=NAME .* --data-option censorship=NAME",
        ),
        ("m,pm,1,,0,3,1,5", {"event": "died"}, "--data-option event=died needs .*with --data-option time=NAME"),
        ("m,pm,1,,0,3,1,5", {"time": "t", "event": "died"}, "no column 't' .--data-option time=t"),
        ("m,pm,1,,0,3,1,5", {"label": "b"}, "line 2: the label is missing"),
    ],
)
def test_read_table_names_the_place_of_an_invalid_label(write, cells, options, message):
    with pytest.raises(InputError, match=message):
        read_table(write(f"{WIDE}{cells}\n"), **options, drop=drop_others(options))
