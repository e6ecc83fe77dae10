import pytest

from bagwise.bags.split_files import strip_slide_name
from bagwise.data.formats.slide_labels import read_slide_labels
from bagwise.errors import InputError
from data.formats.foreign import write_table


def test_read_slide_labels_reads_the_table_of_clam(tmp_path):
    rows = [["case_id", "slide_id", "label"], ["p1", "s1", "tumor"], ["p1", "s2", "tumor"], ["p2", "s3", "normal"]]
    labels = read_slide_labels(write_table(tmp_path / "labels.csv", rows))
    assert labels == {"s1": ("tumor", "p1"), "s2": ("tumor", "p1"), "s3": ("normal", "p2")}


def test_read_slide_labels_joins_the_two_tables_of_stamp(tmp_path):
    clini = write_table(tmp_path / "clini.csv", [["PATIENT", "isMSIH"], ["p1", "1"], ["p2", "0"], ["p9", "0"]])
    rows = [["PATIENT", "FILENAME"], ["p1", "batch/s1.h5"], ["p2", "s2.h5"], ["p2", "s3.h5"], ["p8", "s4.h5"]]
    slides = write_table(tmp_path / "slide.csv", rows)
    labels = read_slide_labels(clini, slides, label_column="isMSIH")
    assert labels == {"s1": (1, "p1"), "s2": (0, "p2"), "s3": (0, "p2")}


def test_read_slide_labels_reads_named_columns(tmp_path):
    path = write_table(tmp_path / "labels.csv", [["scan", "grade"], ["s1.svs", "2"], ["s2.svs", "3"]])
    assert read_slide_labels(path, slide_column="scan", label_column="grade") == {"s1": (2, None), "s2": (3, None)}
    with pytest.raises(InputError, match=r"the slide; name it with --slide-column NAME \(columns: scan, grade\)"):
        read_slide_labels(path)
    with pytest.raises(InputError, match=r"no column 'grad' \(--label-column grad\); did you mean 'grade'"):
        read_slide_labels(path, slide_column="scan", label_column="grad")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["slide_id", "label"], ["s1", ""]], "line 2, column 'label': the label is missing"),
        (
            [["slide_id", "label"], ["s1", "1"], ["s1", "0"]],
            r"line 3: slide 's1' occurs twice with different entries \(label 1 and label 0\)",
        ),
        (
            [["slide_id", "label", "case_id"], ["s1.svs", "1", "p"], ["s1.h5", "1", "q"]],
            r"line 3: slide 's1.h5' occurs twice .*\(label 1, case 'p' and label 1, case 'q'\)",
        ),
        ([["slide_id", "label"]], "has no rows"),
        ([["slide_id", "note"], ["s1", "x"]], "no column for the label"),
    ],
)
def test_read_slide_labels_reports_the_file_and_the_line(tmp_path, rows, message):
    with pytest.raises(InputError, match=f"labels.csv.*{message}"):
        read_slide_labels(write_table(tmp_path / "labels.csv", rows))


def test_read_slide_labels_of_two_tables_reports_the_table_with_the_problem(tmp_path):
    slides = write_table(tmp_path / "slide.csv", [["PATIENT", "FILENAME"], ["p1", "s1.h5"]])
    clini = write_table(tmp_path / "clini.csv", [["PATIENT", "label"], ["p1", "1"], ["p1", "0"]])
    with pytest.raises(InputError, match=r"clini\.csv, line 3: case 'p1' has the label '0', but '1' in an earlier row"):
        read_slide_labels(clini, slides)
    write_table(clini, [["PATIENT", "label"], ["q1", "1"]])
    with pytest.raises(InputError, match="no case in common"):
        read_slide_labels(clini, slides)
    write_table(clini, [["PATIENT", "label"], ["p1", "1"], ["p2", "0"]])
    write_table(slides, [["PATIENT", "FILENAME"], ["p1", "s1.h5"], ["p2", "s1.h5"]])
    with pytest.raises(InputError, match=r"slide\.csv, line 3: slide 's1\.h5' occurs twice"):
        read_slide_labels(clini, slides)


def test_strip_slide_name_removes_the_folder_and_the_suffix():
    assert strip_slide_name(r"C:\slides\s1.ndpi") == "s1"
    assert strip_slide_name(" a/b/TCGA.1234.svs ") == "TCGA.1234"
    assert strip_slide_name("S1.SVS") == "S1"
    assert strip_slide_name("s1.ome.tiff") == "s1.ome"
    assert strip_slide_name("s.1") == "s.1"
    assert strip_slide_name("h5") == "h5"
    assert strip_slide_name(".svs") == ".svs"


CLINI = [["PATIENT", "tumor", "size", "months", "died"], ["p1", "1", "", "3.5", "yes"], ["p2", "0", "2", "12", "0"]]
SLIDES = [["PATIENT", "FILENAME"], ["p1", "s1.h5"], ["p2", "s2.h5"], ["p2", "s3.h5"]]


@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({"label_column": ["tumor", "size"]}, {"tumor": 1.0, "size": None}, {"tumor": 0.0, "size": 2.0}),
        ({"label_column": ["tumor"]}, {"tumor": 1}, {"tumor": 0}),
        (
            {"time_column": "months", "event_column": "died"},
            {"time": 3.5, "event": True},
            {"time": 12.0, "event": False},
        ),
        (
            {"time_column": "months", "censorship_column": "died"},
            {"time": 3.5, "event": False},
            {"time": 12.0, "event": True},
        ),
    ],
)
def test_read_slide_labels_reads_several_labels_and_survival_from_one_or_two_tables(tmp_path, options, first, second):
    clini, slides = write_table(tmp_path / "clini.csv", CLINI), write_table(tmp_path / "slide.csv", SLIDES)
    joined = read_slide_labels(clini, slides, **options)
    assert joined == {"s1": (first, "p1"), "s2": (second, "p2"), "s3": (second, "p2")}
    single = read_slide_labels(clini, slide_column="PATIENT", case_column="PATIENT", **options)
    assert single == {"p1": (first, "p1"), "p2": (second, "p2")}


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (
            ["p1", "0", "", "3.5", "1"],
            {"label_column": ["tumor", "size"]},
            "line 4: case 'p1' has the label tumor 0.0, size nan, but tumor 1.0",
        ),
        (["p3", "x", "", "1", "1"], {"label_column": ["tumor", "size"]}, "line 4, column 'tumor' is not a number: 'x'"),
        (
            ["p3", "1", "", "0", "1"],
            {"time_column": "months", "event_column": "died"},
            "line 4, column 'months' is '0'",
        ),
        (["p3", "1", "", "1", "-"], {"time_column": "months", "event_column": "died"}, "line 4, column 'died': '-' is"),
        (
            ["p3", "1", "", "1", "1"],
            {"time_column": "months"},
            "name one of --event-column NAME .* --censorship-column",
        ),
        (["p3", "1", "", "1", "1"], {"label_column": ["tumor", "old"]}, "no column 'old' .--label-column old."),
    ],
)
def test_read_slide_labels_names_the_fault_of_several_labels_and_survival(tmp_path, row, options, message):
    clini, slides = write_table(tmp_path / "clini.csv", [*CLINI, row]), write_table(tmp_path / "slide.csv", SLIDES)
    with pytest.raises(InputError, match=message):
        read_slide_labels(clini, slides, **options)
