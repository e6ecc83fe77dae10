import pytest

from bagwise.data.formats.uci_musk import read_uci_musk
from bagwise.errors import InputError


def test_read_uci_musk_makes_one_bag_per_molecule(tmp_path):
    rows = [("MUSK-188", 1, 1), ("MUSK-188", 2, 1), ("NON-MUSK-jp13", 1, 0)]
    lines = [f"{name},{name}_{k},{','.join(map(str, range(k, k + 166)))},{label}." for name, k, label in rows]
    (tmp_path / "clean1.data").write_text("\n".join(lines) + "\n")
    bags = read_uci_musk(tmp_path / "clean1.data")
    assert bags.names.tolist() == ["MUSK-188", "NON-MUSK-jp13"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.instances.shape == (3, 166)
    assert bags.instances[1, 0] == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no rows"),
        (b"a,b,1\n", "line 1 has 3 values"),
        (b"a,b,1,1.\na,b,1,2,1.\n", "line 2 has 5 values, but the first line has 4"),
        (b"a,b,x,1.\n", "line 1, value 3 is not a number: 'x'"),
        (b"a,b,1,1.\na,b,1,0.\n", "line 2: bag 'a' has the label '0'"),
        (b"a,b,\xff,1.\n", "is not text in UTF-8"),
    ],
)
def test_read_uci_musk_reports_the_file_and_the_line(tmp_path, content, message):
    (tmp_path / "a.data").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.data.*{message}"):
        read_uci_musk(tmp_path / "a.data")
