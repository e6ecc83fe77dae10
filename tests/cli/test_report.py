from command_line import QUICK, bagwise, read_error


def test_report_writes_to_another_path(tmp_path):
    assert bagwise("train", "needles", "run", *QUICK, "-q", cwd=tmp_path).returncode == 0
    result = bagwise("report", "run", "--out", "pages/page.html", cwd=tmp_path)
    assert "wrote report: pages/page.html" in result.stdout
    assert (tmp_path / "pages" / "page.html").read_bytes() == (tmp_path / "run" / "report.html").read_bytes()
    assert "is not a folder" in read_error(bagwise("report", "nowhere", cwd=tmp_path))
