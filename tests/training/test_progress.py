import io

from rich.console import Console

from bagwise.training.engines.choice import EngineChoice
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.history import Epoch
from bagwise.training.progress import TrainingProgressBar


def test_training_progress_bar_shows_epochs_loss_and_validation_loss():
    record = Epoch(
        epoch=2,
        loss=0.1234,
        error=0.5,
        validation_loss=0.4321,
        validation_error=0.25,
        learning_rate=1e-3,
        seconds=0.1,
    )
    text = io.StringIO()
    with TrainingProgressBar(Console(file=text, force_terminal=True, width=80)) as bar:
        bar.start(1, 4)
        bar.batch(1, 2)
        bar.epoch(record)
    assert "2/4" in text.getvalue()
    assert "loss 0.123, validation 0.432" in text.getvalue()


def test_training_progress_bar_prints_the_engine_in_one_line():
    text = io.StringIO()
    with TrainingProgressBar(Console(file=text, width=80)) as bar:
        bar.engine(EngineChoice("torch", TorchEngine, "few steps"))
    assert "engine: torch (few steps)\n" in text.getvalue()


def test_training_progress_bar_shows_a_compilation_until_the_first_step_is_done():
    def read_line():
        with console.capture() as capture:
            console.print(bar.bar.get_renderable())
        return capture.get().splitlines()[0]

    console = Console(file=io.StringIO(), width=80)
    bar = TrainingProgressBar(console)
    bar.engine(EngineChoice("fused", TorchEngine, preparation="compiling, once, about 10 s"))
    bar.start(0, 1000)
    assert read_line().rstrip().endswith("compiling, once, about 10 s")
    bar.batch(1, 2)
    assert "compiling" not in read_line()
