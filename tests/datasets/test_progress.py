import io

from rich.console import Console

from bagwise.datasets.progress import ProgressBar


def test_the_bar_counts_files_and_names_the_one_that_comes():
    text = io.StringIO()
    with ProgressBar(Console(file=text, force_terminal=True, width=80)) as bar:
        bar.start(3)
        bar.bytes("img1.bmp", 500_000, 1_000_000)
        bar.file()
        bar.bytes("[red].bmp", 2_500_000, None)
    assert "1/3" in text.getvalue()
    assert "[red].bmp 2.5 MB" in text.getvalue()
