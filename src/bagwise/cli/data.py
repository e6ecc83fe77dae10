"""``bagwise data``: list, describe and fetch the data sets that are available by name."""

from typing import Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet

data = typer.Typer(
    help="List, describe and fetch the named data sets.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Example: bagwise data list",
)


app.add_typer(data, name="data")
INTERRUPTED = 130
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set; `bagwise data list` prints the names.")]


@data.command("list", epilog="Example: bagwise data list --json")
def list_datasets(quiet: Quiet = False, as_json: Json = False) -> None:
    """List the data sets and show which are on this machine."""
    from bagwise.data.datasets import DATASETS, get_data_home, is_fetched

    output = Output(quiet, as_json)
    available = {name: dataset.origin is None or is_fetched(name) for name, dataset in DATASETS.items()}
    width = max(map(len, DATASETS))
    for name, dataset in DATASETS.items():
        output.print(f"{name:<{width}}  {'available' if available[name] else '-':<9}  {dataset.title}")
    output.print(f"\ndata folder: {get_data_home()} (set BAGWISE_DATA to use another)")
    output.print(
        "next: fetch a missing data set with bagwise data fetch NAME, or train with bagwise train NAME runs/first"
    )
    known = {name: {"title": dataset.title, "available": available[name]} for name, dataset in DATASETS.items()}
    output.print_result({"home": str(get_data_home()), "datasets": known})


@data.command("describe", epilog="Example: bagwise data describe musk1")
def describe_dataset(name: Name, quiet: Quiet = False, as_json: Json = False) -> None:
    """Print the size of a data set, its origin and its citation."""
    from bagwise.data.datasets import DATASETS, describe_bags, load_dataset, resolve_dataset_name

    output = Output(quiet, as_json)
    name = resolve_dataset_name(name)
    dataset = DATASETS[name]
    loaded = {split: load_dataset(name, split=split) for split in dataset.splits} or {"all": load_dataset(name)}
    counted = {split: describe_bags(bags) for split, bags in loaded.items()}
    output.print(f"{name}: {dataset.title}")
    for split, counts in counted.items():
        output.print_table("" if split == "all" else f"split {split}, with default options", _make_rows(counts))
    origin = _describe_origin(dataset.origin)
    for key, text in origin.items():
        output.print(f"{key}: {text}")
    output.print_result({"name": name, "title": dataset.title, "splits": counted, **origin})


@data.command("fetch", epilog="Example: bagwise data fetch musk1 --from ~/Downloads/mil")
def fetch(
    name: Name,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FOLDER_OR_URL",
            help="Folder or URL of the files. [default: the public origin of the data set]",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Copy or download a data set to the data folder.

    Every file is compared with its known SHA-256. An interrupted download resumes when the command is run again.
    """
    from bagwise.data.datasets import (
        DATASETS,
        DownloadProgress,
        DownloadProgressBar,
        fetch_dataset,
        resolve_dataset_name,
    )

    output = Output(quiet, as_json)
    try:
        fetched = fetch_dataset(
            name, source, progress=DownloadProgressBar() if output.is_verbose else DownloadProgress()
        )
    except KeyboardInterrupt:
        typer.echo("Stopped. Downloaded data is kept. Run the same command again to resume.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    name = resolve_dataset_name(name)
    output.print(f"{name}: {len(fetched.brought)} files fetched, {len(fetched.kept)} already there; in {fetched.home}")
    origin = _describe_origin(DATASETS[name].origin)
    output.print(f"please cite: {origin.get('citation')}; terms: {origin.get('terms')}")
    output.print(f"next: bagwise data describe {name}")
    output.print_result({"name": name, **fetched._asdict(), **origin})


def _describe_origin(origin: Any) -> dict[str, str]:
    return {} if origin is None else {"origin": origin.page, "citation": origin.citation, "terms": origin.terms}


def _make_rows(counts: dict[str, Any]) -> list[tuple[str, str]]:
    """Format the counts as a table, without the rows that do not apply."""
    sizes = counts["bag_sizes"]
    rows = [
        ("bags", f"{counts['n_bags']:,}{_format_classes(counts['labels'])}"),
        ("instances", f"{counts['n_instances']:,}{_format_classes(counts['instance_labels'])}"),
        ("shape of an instance", f"{'×'.join(map(str, counts['instance_shape']))} {counts['instance_type']}"),
        ("bag sizes", f"{sizes['min']} to {sizes['max']}, median {sizes['median']:g}, mean {sizes['mean']:.1f}"),
        ("in memory", f"{counts['megabytes']} MB"),
    ]
    return rows + ([("groups", str(counts["n_groups"]))] if counts["n_groups"] else [])


def _format_classes(counts: dict[str, int] | None) -> str:
    """Format the number of positives and negatives, or of each class if there are more."""
    if counts is None:
        return ""
    if counts.keys() == {"0", "1"}:
        return f" ({counts['1']:,} positive, {counts['0']:,} negative)"
    return f" ({', '.join(f'{label}: {count:,}' for label, count in counts.items())})"
