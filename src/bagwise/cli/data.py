"""bagwise data: the named data sets: which there are, what they hold, and how to get them."""

from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet

data = typer.Typer(
    help="Data sets by name: list, describe and fetch them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Example: bagwise data list",
)
app.add_typer(data, name="data")

INTERRUPTED = 130
Name = Annotated[str, typer.Argument(help="A data set's name, as bagwise data list shows it.")]


@data.command("list", epilog="Example: bagwise data list --json")
def list_all(quiet: Quiet = False, as_json: Json = False) -> None:
    """List the data sets, and whether each is there."""
    from bagwise.datasets import DATASETS, data_home, is_there

    output = Output(quiet, as_json)
    there = {name: dataset.origin is None or is_there(name) for name, dataset in DATASETS.items()}
    width = max(map(len, DATASETS))
    for name, dataset in DATASETS.items():
        output.say(f"{name:<{width}}  {'there' if there[name] else '-':<5}  {dataset.title}")
    output.say(f"\nthe data home is {data_home()} (BAGWISE_DATA chooses another)")
    output.say("next: bagwise data fetch NAME for one that is not there, or bagwise train NAME runs/first")
    known = {name: {"title": dataset.title, "there": there[name]} for name, dataset in DATASETS.items()}
    output.result({"home": str(data_home()), "datasets": known})


@data.command("describe", epilog="Example: bagwise data describe musk1")
def describe_one(name: Name, quiet: Quiet = False, as_json: Json = False) -> None:
    """Count the bags and instances of a data set; say where it comes from and whom to cite."""
    from bagwise.datasets import DATASETS, full_name, load_dataset
    from bagwise.datasets.describing import describe

    output = Output(quiet, as_json)
    name = full_name(name)
    dataset = DATASETS[name]
    loaded = {split: load_dataset(name, split=split) for split in dataset.splits} or {"all": load_dataset(name)}
    counted = {split: describe(bags) for split, bags in loaded.items()}
    output.say(f"{name}: {dataset.title}")
    for split, counts in counted.items():
        output.table("" if split == "all" else f"split {split}, as it is made by default", _rows(counts))
    origin = _origin(dataset.origin)
    for key, text in origin.items():
        output.say(f"{key}: {text}")
    output.result({"name": name, "title": dataset.title, "splits": counted, **origin})


@data.command("fetch", epilog="Example: bagwise data fetch musk1 --from ~/Downloads/mil")
def fetch_one(
    name: Name,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FOLDER_OR_URL", help="Where the files are; else the public origin is asked."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring a data set into the data home; every file is compared with its known SHA-256.

    A cut download goes on where it stopped when the command is given again.
    """
    from bagwise.datasets import DATASETS, Progress, ProgressBar, fetch, full_name

    output = Output(quiet, as_json)
    try:
        fetched = fetch(name, source, progress=ProgressBar() if output.talks else Progress())
    except KeyboardInterrupt:
        typer.echo("stopped; what has come is kept, and the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None
    name = full_name(name)
    output.say(f"{name}: {len(fetched.brought)} files fetched, {len(fetched.kept)} were there; in {fetched.home}")
    origin = _origin(DATASETS[name].origin)
    output.say(f"please cite: {origin.get('citation')}; terms: {origin.get('terms')}")
    output.say(f"next: bagwise data describe {name}")
    output.result({"name": name, **fetched._asdict(), **origin})


def _origin(origin: Any) -> dict[str, str]:
    return {} if origin is None else {"origin": origin.page, "citation": origin.citation, "terms": origin.terms}


def _rows(counts: dict[str, Any]) -> list[tuple[str, str]]:
    """The counts as a table; what a data set does not have is left out."""
    sizes = counts["bag_sizes"]
    rows = [
        ("bags", f"{counts['n_bags']:,}{_classes(counts['labels'])}"),
        ("instances", f"{counts['n_instances']:,}{_classes(counts['instance_labels'])}"),
        ("an instance", f"{'×'.join(map(str, counts['instance_shape']))} {counts['instance_type']}"),
        ("bag sizes", f"{sizes['min']} to {sizes['max']}, median {sizes['median']:g}, mean {sizes['mean']:.1f}"),
        ("in memory", f"{counts['megabytes']} MB"),
    ]
    return rows + ([("groups", str(counts["n_groups"]))] if counts["n_groups"] else [])


def _classes(counts: dict[str, int] | None) -> str:
    """(+/-) for two classes, else each class and its count."""
    if counts is None:
        return ""
    if counts.keys() == {"0", "1"}:
        return f" ({counts['1']:,} positive, {counts['0']:,} negative)"
    return f" ({', '.join(f'{label}: {count:,}' for label, count in counts.items())})"
