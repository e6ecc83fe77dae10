import pytest

from bagwise.errors import InputError
from bagwise.formats.labels import read_labels, slide_name
from formats.foreign import write_table


def test_clams_table(tmp_path):
    rows = [["case_id", "slide_id", "label"], ["p1", "s1", "tumor"], ["p1", "s2", "tumor"], ["p2", "s3", "normal"]]
    labels = read_labels(write_table(tmp_path / "labels.csv", rows))
    assert labels == {"s1": ("tumor", "p1"), "s2": ("tumor", "p1"), "s3": ("normal", "p2")}


def test_stamps_two_tables(tmp_path):
    clini = write_table(tmp_path / "clini.csv", [["PATIENT", "isMSIH"], ["p1", "1"], ["p2", "0"], ["p9", "0"]])
    rows = [["PATIENT", "FILENAME"], ["p1", "batch/s1.h5"], ["p2", "s2.h5"], ["p2", "s3.h5"], ["p8", "s4.h5"]]
    slides = write_table(tmp_path / "slide.csv", rows)
    labels = read_labels(clini, slides, label_column="isMSIH")
    assert labels == {"s1": (1, "p1"), "s2": (0, "p2"), "s3": (0, "p2")}


def test_any_two_columns_when_they_are_named(tmp_path):
    path = write_table(tmp_path / "labels.csv", [["scan", "grade"], ["s1.svs", "2"], ["s2.svs", "3"]])
    assert read_labels(path, slide_column="scan", label_column="grade") == {"s1": (2, None), "s2": (3, None)}
    with pytest.raises(InputError, match="no column for the slide; name it with --slide-column: scan, grade"):
        read_labels(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["slide_id", "label"], ["s1", ""]], "line 2: the label is missing"),
        ([["slide_id", "label"], ["s1", "1"], ["s1", "0"]], "line 3: slide 's1' is there twice, differently"),
        ([["slide_id", "label"], ["s1.svs", "1"], ["s1.h5", "0"]], "line 3: slide 's1.h5' is there twice"),
        ([["slide_id", "label"]], "has no rows"),
        ([["slide_id", "note"], ["s1", "x"]], "no column for the label"),
    ],
)
def test_bad_tables_are_told(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_labels(write_table(tmp_path / "labels.csv", rows))


def test_cases_with_two_labels_or_none_in_common_are_told(tmp_path):
    slides = write_table(tmp_path / "slide.csv", [["PATIENT", "FILENAME"], ["p1", "s1.h5"]])
    two = write_table(tmp_path / "two.csv", [["PATIENT", "label"], ["p1", "1"], ["p1", "0"]])
    with pytest.raises(InputError, match="case 'p1' has another label before"):
        read_labels(two, slides)
    other = write_table(tmp_path / "other.csv", [["PATIENT", "label"], ["q1", "1"]])
    with pytest.raises(InputError, match="no case in common"):
        read_labels(other, slides)


def test_names_of_slides_lose_folder_and_ending():
    assert slide_name(r"C:\slides\s1.ndpi") == "s1"
    assert slide_name(" a/b/TCGA.1234.svs ") == "TCGA.1234"
    assert slide_name("S1.SVS") == "S1"
    assert slide_name("s1.ome.tiff") == "s1.ome"
    assert slide_name("s.1") == "s.1"
    assert slide_name("h5") == "h5"
    assert slide_name(".svs") == ".svs"
