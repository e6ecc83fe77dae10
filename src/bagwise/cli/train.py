"""bagwise train: DATA and parameters → a run folder."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.interruption import interruptible
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.parameters import gather, read_options, with_parameters

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
    if preset is not None:
        from bagwise.estimators.presets import preset as preset_parameters

        parameters = {**preset_parameters(preset), **parameters}
    source = {
        "data": data,
        "options": options | read_options(data_option or []),
        "test": _test(test),
        "splits": None if splits is None else str(splits),
    }
    run_to_the_end(run, {"data": source, "parameters": parameters}, resume, Output(quiet, as_json))


def run_to_the_end(folder: Path, description: dict[str, Any], resume: bool, output: Output) -> None:
    """Train, report, and print what was found; an interruption is saved, and told how to go on."""
    from bagwise.report import write_report
    from bagwise.runs import execute
    from bagwise.training import Progress, ProgressBar, TrainingStopped

    with interruptible() as interruption:
        try:
            progress = ProgressBar() if output.talks else Progress()
            run = execute(folder, description, resume=resume, progress=progress, should_stop=interruption.requested)
        except TrainingStopped:
            command = shlex.join(["bagwise", "train", description["data"]["data"], str(folder), "--resume"])
            typer.echo(f"stopped and saved; to go on:\n  {command}", err=True)
            raise typer.Exit(interruption.exit_code) from None
    report = write_report(run)
    output.metrics(run.metrics)
    output.empty(run.manifest.get("set_aside", []))
    output.wrote(run.folder, "run")
    output.wrote(report, "report")
    output.say(f"next: open {report} in a browser, or look at the bags: bagwise view {run.folder}")
    output.result({"run": str(run.folder), "report": str(report), "metrics": run.metrics})


def _test(value: str | None) -> float | str | None:
    """A share where it is a number, else DATA."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return value
