from command_line import bagwise, refusal


def test_every_benchmark_says_in_a_line_what_it_measures():
    listed = bagwise("bench")
    assert listed.returncode == 0, listed.stderr
    for name in ("small_bags", "huge_bags", "reading", "segments"):
        assert name in listed.stdout
    assert "writing_results" not in listed.stdout


def test_an_unknown_benchmark_is_refused(tmp_path):
    assert "small_bags" in refusal("bench", "smal_bags", cwd=tmp_path)
