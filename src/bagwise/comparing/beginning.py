"""The beginning of a comparison in its folder: what is compared is written down, or found to go on with what was."""

import hashlib
from pathlib import Path
from typing import Any

from bagwise.bags import fingerprint
from bagwise.claims import is_unused
from bagwise.comparing.comparison import ENVIRONMENT, KIND, PLAN, UNITS, pages
from bagwise.comparing.plan import Material, Plan
from bagwise.errors import InputError
from bagwise.evaluation.protocol import Split
from bagwise.files import MANIFEST, read_json, write_json
from bagwise.manifests import damages, write_manifest
from bagwise.runs import describe_environment

MAY_DIFFER = ("methods", "selection", "repeats")


def check_place(folder: Path) -> None:
    """Refuse a folder of other things before anything is written to it."""
    if not (folder / PLAN).exists() and not is_unused(folder):
        raise InputError(f"{folder} exists and is not a comparison; choose a new folder")


def begin(folder: Path, plan: Plan, material: Material) -> None:
    """Write down what is compared, or see that it goes on with what was begun here."""
    wanted: dict[str, Any] = {
        "plan": plan._asdict(),
        "bags": fingerprint(material.bags, material.labels),
        "first_splits": _digest(material.splits),
    }
    stored = folder / PLAN
    if stored.exists() and any((folder / UNITS).rglob("*.json")):
        begun = read_json(stored)
        _check_same(folder, begun, wanted)
        if (folder / MANIFEST).exists() and (found := damages(folder)):
            raise InputError(f"{folder} is damaged: {'; '.join(found[:3])}; restore it, or choose a new folder")
        _grow(folder, begun, {**wanted, "plan": _together(begun["plan"], wanted["plan"])})
        return
    write_json(stored, wanted)
    write_json(folder / ENVIRONMENT, describe_environment())


def _grow(folder: Path, begun: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Write the greater plan; at no moment does a manifest speak of another plan than the one that is there."""
    if begun == wanted:
        return
    if (folder / MANIFEST).exists():
        write_manifest(folder, KIND, passing={PLAN, *pages(folder)})
    write_json(folder / PLAN, wanted)


def _check_same(folder: Path, begun: Any, wanted: dict[str, Any]) -> None:
    """Other methods and another number of repeats may be asked for; all else must be as it was."""
    if not isinstance(begun, dict) or not isinstance(begun.get("plan"), dict):
        raise InputError(f"{folder / PLAN} is damaged; make the comparison again")
    before, now = begun["plan"], wanted["plan"]
    known = {**Plan._field_defaults, **before}  # a field that came later was not written down
    same = all(known.get(name) == now[name] for name in now if name not in MAY_DIFFER) and _agree(before, now)
    other = None if same else "methods, data or folds"
    other = other or next((part for part in ("bags", "first_splits") if begun.get(part) != wanted[part]), None)
    if other is not None:
        raise InputError(
            f"{folder} holds a comparison of other {other.replace('first_', '')}; repeat the first command to go on "
            "with it (methods and repeats may be added), or choose a new folder"
        )


def _agree(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether every method of both is the same in both."""
    common = before["methods"].keys() & now["methods"].keys()
    return all(
        before["methods"][name] == now["methods"][name] and before["selection"].get(name) == now["selection"].get(name)
        for name in common
    )


def _together(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """One plan for what was done and what is asked for."""
    both = {name: {**before[name], **now[name]} for name in ("methods", "selection")}
    return {**now, **both, "repeats": max(before["repeats"], now["repeats"])}


def _digest(splits: list[Split]) -> str:
    """One number for the splits of the first repeat: files of splits may change under their names."""
    digest = hashlib.sha256()
    for split in splits:
        if split.repeat == 0:
            digest.update(repr((split.fold, split.training.tolist(), split.test.tolist())).encode())
    return digest.hexdigest()
