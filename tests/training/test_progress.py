import io

from rich.console import Console

from bagwise.training.engines import Choice, TorchEngine
from bagwise.training.history import Epoch
from bagwise.training.progress import ProgressBar


def test_the_bar_shows_epochs_loss_and_validation():
    text = io.StringIO()
    with ProgressBar(Console(file=text, force_terminal=True, width=80)) as bar:
        bar.start(1, 4)
        bar.batch(1, 2)
        bar.epoch(Epoch(2, 0.1234, 0.5, 0.4321, 0.25, 1e-3, 0.1))
    shown = text.getvalue()
    assert "2/4" in shown
    assert "loss 0.123, validation 0.432" in shown


def test_the_engine_is_announced_in_one_line():
    text = io.StringIO()
    with ProgressBar(Console(file=text, width=80)) as bar:
        bar.engine(Choice("torch", TorchEngine, "few steps"))
    assert "engine: torch (few steps)\n" in text.getvalue()
