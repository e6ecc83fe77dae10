"""``bagwise train``: train a model on DATA and write a run folder."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.interruption import end_on_signal, handle_interruption, print_resume_hint
from bagwise.cli.options import (
    DataArgument,
    DataOption,
    add_parameters,
    gather_parameters,
    read_options,
    split_names,
)
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.preflight import check_requirements
from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.runs import Run

EXAMPLE = "Example: bagwise train digits runs/first --pooling gated-attention --epochs 30 --seed 5"


@app.command(epilog=EXAMPLE)
@add_parameters
def train(
    data: DataArgument,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder to write the run to.")],
    test: Annotated[
        str | None,
        typer.Option(
            help="Share of the bags to hold out for testing, or other DATA to test on. "
            "[default: the data set's own test bags, else 0.2]"
        ),
    ] = None,
    splits: Annotated[
        Path | None,
        typer.Option(help="csv file with the columns train, val and test, instead of --test. [default: none]"),
    ] = None,
    ungrouped: Annotated[
        bool,
        typer.Option("--ungrouped", help="Allow bags of one group (patient) in both training and test. [default: no]"),
    ] = False,
    data_option: DataOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Any method of `bagwise compare`, such as MI-SVM or 'extra trees'. Case-sensitive: mi-SVM and MI-SVM "
            "are different methods. [default: a network with gated attention]"
        ),
    ] = None,
    method_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Parameter of --method, such as C=10; may be repeated. [default: none]"
        ),
    ] = None,
    screen: Annotated[
        str | None,
        typer.Option(
            help="Methods that --method auto tries, separated by commas, e.g. extra-trees,mi-Graph. "
            "[default: seven methods of different kinds]"
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Duration such as 90s, 10m or 2h, or a number of seconds: --method auto leaves out the slowest "
            "methods until the rest are expected to finish in this time. [default: none]"
        ),
    ] = None,
    no_baselines: Annotated[
        bool,
        typer.Option(
            "--no-baselines", help="Leave out the baselines of the report (majority, extra trees). [default: no]"
        ),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Named set of parameters: paper (one network trained on all bags, 100 epochs, no calibration) or "
            "bagwise (the same with augmentation and averaged network weights). Other flags take precedence. "
            "[default: none]"
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with the parameters of the method; flags take precedence. [default: none]"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in RUN; start it if there is none. [default: no]")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Train a model on DATA and write a run folder.

    The folder RUN contains the model, its predictions and its metrics. Held-out bags are stratified by class, and bags
    of one group (patient) stay together.
    """
    if method is None and (screen is not None or budget is not None):
        raise InputError(f"--{'screen' if budget is None else 'budget'} needs --method auto; add it")
    flags |= {"screen": None if screen is None else split_names(screen), "budget": budget}
    parameters, options = gather_parameters(flags, config, method, method_option or [])
    check_requirements(data, test, engine=parameters.get("engine"))
    if preset is not None:
        from bagwise.estimators import get_preset

        if method is not None:
            raise InputError("--preset and --method are mutually exclusive; give one of them")
        parameters = {**get_preset(preset), **parameters}
    source = {
        "data": data,
        "options": options | read_options(data_option or []),
        "test": _parse_test(test),
        "splits": None if splits is None else str(splits),
        "ungrouped": ungrouped or None,
    }
    description = {"data": source, "method": method, "parameters": parameters}
    run_training(run, description, resume, Output(quiet, as_json), baselines=not no_baselines)


def run_training(
    folder: Path, description: dict[str, Any], resume: bool, output: Output, baselines: bool = True
) -> None:
    """Train, write the report and print the results; an interrupted training can be resumed."""
    from bagwise.parallel import join_ranks
    from bagwise.report import write_report
    from bagwise.runs import PARAMETERS, assist_run, execute_run
    from bagwise.training import TrainingProgress, TrainingProgressBar, TrainingStopped

    has_checkpoint = _has_checkpoint(description["method"])
    with handle_interruption() if has_checkpoint else end_on_signal() as interruption, join_ranks() as ranks:
        try:
            if not ranks.first:
                assist_run(interruption.requested)
                return
            progress = TrainingProgressBar() if output.is_verbose else TrainingProgress()
            run = execute_run(
                folder,
                description,
                resume=resume,
                baselines=baselines,
                progress=progress,
                should_stop=interruption.requested,
            )
            report = write_report(run)
        except (TrainingStopped, KeyboardInterrupt):
            if not (folder / PARAMETERS).exists() or not interruption.requested():  # there is nothing to resume
                raise
            if ranks.first:
                arguments = ["train", description["data"]["data"], str(folder), "--resume"]
                print_resume_hint([*_make_launcher(ranks.size), *arguments], is_saved=has_checkpoint)
            raise typer.Exit(interruption.exit_code) from None
    _print_run(output, run, report)


def _has_checkpoint(method: str | None) -> bool:
    """Return whether a method saves its state when it is interrupted, as networks do; others end immediately."""
    from bagwise.estimators import METHODS, resolve_method_name

    return method is None or METHODS[resolve_method_name(method)].kind.supports_checkpoint


def _make_launcher(n_processes: int) -> list[str]:
    """Return the start of the command line for this many processes."""
    return ["bagwise"] if n_processes == 1 else ["torchrun", f"--nproc-per-node={n_processes}", "-m", "bagwise"]


def _print_run(output: Output, run: "Run", report: Path) -> None:
    output.print_screening(run.screening, run.target)
    output.print_metrics(run.metrics, run.target)
    output.print_empty_bags(run.manifest.get("set_aside", []))
    if run.environment.get("device", "cpu") != "cpu":
        output.print(f"repeating this run gives {run.environment['repeatable']}")
    output.print_written(run.folder, "run")
    output.print_written(report, "report")
    view_command = shlex.join(["bagwise", "view", str(run.folder)])
    output.print(f"next: open {report} in a browser, or explore the bags with: {view_command}")
    screening = {"screening": run.screening} if run.screening else {}
    output.print_result({"run": str(run.folder), "report": str(report), "metrics": run.metrics, **screening})


def _parse_test(value: str | None) -> float | str | None:
    """Parse --test: a number is a share of the bags, anything else is DATA."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return value
