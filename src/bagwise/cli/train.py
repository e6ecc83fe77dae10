"""bagwise train: DATA and parameters → a run folder."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.interruption import interruptible, tell_the_way_on
from bagwise.cli.needs import check_needs
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.parameters import gather, read_options, with_parameters

if TYPE_CHECKING:
    from bagwise.runs import Run

EXAMPLE = "Example: bagwise train digits runs/first --pooling gated-attention --epochs 30 --seed 5"


@app.command(epilog=EXAMPLE)
@with_parameters
def train(
    data: Annotated[str, typer.Argument(help="A data set's name, a folder of bags, a table, or a folder of images.")],
    run: Annotated[Path, typer.Argument(help="The folder to write the run to.")],
    test: Annotated[str | None, typer.Option(help="Share of the bags, or other DATA, to test on.")] = None,
    splits: Annotated[
        Path | None, typer.Option(help="A file with the columns train, val, test: which bags are for what.")
    ] = None,
    ungrouped: Annotated[
        bool, typer.Option("--ungrouped", help="Let bags of a group (a patient) be trained on and tested on.")
    ] = False,
    data_option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE for the data set's loader.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="bagwise: gated attention, augmented and averaged; other flags win.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of the same words; flags win.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Train a model on DATA and write everything about it to the folder RUN.

    Without --test the data set's own test bags are used, or a fifth of the bags, held out by class and by group.
    """
    parameters, options = gather(flags, config)
    check_needs(data, test, engine=parameters.get("engine"))
    if preset is not None:
        from bagwise.estimators.presets import preset as preset_parameters

        parameters = {**preset_parameters(preset), **parameters}
    source = {
        "data": data,
        "options": options | read_options(data_option or []),
        "test": _test(test),
        "splits": None if splits is None else str(splits),
        "ungrouped": ungrouped or None,
    }
    run_to_the_end(run, {"data": source, "parameters": parameters}, resume, Output(quiet, as_json))


def run_to_the_end(folder: Path, description: dict[str, Any], resume: bool, output: Output) -> None:
    """Train, report, and print what was found; an interruption is saved, and told how to go on."""
    from bagwise.report import write_report
    from bagwise.runs import assist, execute
    from bagwise.runs.run import PARAMETERS
    from bagwise.training import Progress, ProgressBar, TrainingStopped
    from bagwise.training.ranks import joined

    with interruptible() as interruption, joined() as ranks:
        try:
            if not ranks.first:
                assist(interruption.requested)
                return
            progress = ProgressBar() if output.talks else Progress()
            run = execute(folder, description, resume=resume, progress=progress, should_stop=interruption.requested)
            report = write_report(run)
        except (TrainingStopped, KeyboardInterrupt):
            if not (folder / PARAMETERS).exists():  # not yet begun: the same command begins it
                raise
            if ranks.first:
                words = ["train", description["data"]["data"], str(folder), "--resume"]
                tell_the_way_on([*_start(ranks.size), *words])
            raise typer.Exit(interruption.exit_code) from None
    _tell(output, run, report)


def _start(n_processes: int) -> list[str]:
    """The words that start bagwise, on so many processes."""
    return ["bagwise"] if n_processes == 1 else ["torchrun", f"--nproc-per-node={n_processes}", "-m", "bagwise"]


def _tell(output: Output, run: "Run", report: Path) -> None:
    output.metrics(run.metrics)
    output.empty(run.manifest.get("set_aside", []))
    if run.environment.get("device", "cpu") != "cpu":
        output.say(f"repeated, this run gives {run.environment['repeatable']}")
    output.wrote(run.folder, "run")
    output.wrote(report, "report")
    viewing = shlex.join(["bagwise", "view", str(run.folder)])
    output.say(f"next: open {report} in a browser, or look at the bags: {viewing}")
    output.result({"run": str(run.folder), "report": str(report), "metrics": run.metrics})


def _test(value: str | None) -> float | str | None:
    """A share where it is a number, else DATA."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return value
