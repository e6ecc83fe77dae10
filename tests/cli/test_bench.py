from command_line import bagwise, run_rejected


def test_bench_lists_every_benchmark_with_its_description():
    listed = bagwise("bench")
    assert listed.returncode == 0, listed.stderr
    for name in ("small_bags", "huge_bags", "reading", "segments"):
        assert name in listed.stdout
    assert "writing_results" not in listed.stdout


def test_bench_rejects_unknown_name(tmp_path):
    assert "small_bags" in run_rejected("bench", "smal_bags", cwd=tmp_path)
