"""Print pip constraints with the lowest declared version of every direct dependency.

`make test-lowest` installs bagwise under these constraints, so that the minimum versions in pyproject.toml are tested.
Only PyTorch is pinned as in constraints.txt: older releases do not have a CPU build for every platform.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)")


def lowest_versions(project: dict, constraints: str) -> list[str]:
    """Return one `name==version` line per direct dependency, including those of all extras."""
    extras = project["optional-dependencies"].values()
    pins = {}
    for requirement in sum(extras, project["dependencies"]):
        if requirement.startswith(f"{project['name']}["):
            continue  # an extra that combines other extras
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} declares no minimum version (write NAME>=VERSION)")
        pins[match["name"]] = f"{match['name']}=={match['version']}"
    pins["torch"] = next(line for line in constraints.splitlines() if line.startswith("torch=="))
    return sorted(pins.values())


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print(*lowest_versions(project, (ROOT / "constraints.txt").read_text(encoding="utf-8")), sep="\n")
