import json

from bagwise.cli.demo import _find_unused
from command_line import bagwise_process


def test_demo_learns_and_weights_find_the_nines(tmp_path):
    """What the README promises: AUC of bags at least 0.95, mean AUC of instances within positive bags at least 0.93."""
    result = bagwise_process("demo", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["metrics"]["bags"]["auc"]["value"] >= 0.95
    assert found["metrics"]["instances"]["weights"]["auc"] >= 0.93
    page = (tmp_path / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") > 20


def test_demo_takes_a_new_folder_each_time(tmp_path):
    assert _find_unused(tmp_path / "demo") == tmp_path / "demo"
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").mkdir()
    assert _find_unused(tmp_path / "demo") == tmp_path / "demo-3"
