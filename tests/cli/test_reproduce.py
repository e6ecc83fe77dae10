import json

from command_line import bagwise, refusal


def test_experiments_are_listed():
    listed = bagwise("reproduce", "list", "--json")
    assert {"table1", "mnist-bags"} <= json.loads(listed.stdout).keys()


def test_wrong_names_are_refused(tmp_path):
    assert "did you mean 'table1'" in refusal("reproduce", "tabel1", cwd=tmp_path)
    assert "neither a setting nor a method" in refusal("reproduce", "table1", "--only", "musk9", cwd=tmp_path)
