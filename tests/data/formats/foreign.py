"""Files in the formats of other tools."""

import csv
import json

import h5py
import numpy as np


def features(n_rows=5, width=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, width)).astype(np.float32)


def grid(n_rows=5, step=512, dtype=np.int64):
    """Return the upper left corners of tiles, three per row."""
    numbers = np.arange(n_rows)
    return np.stack([numbers % 3 * step, numbers // 3 * step], axis=1).astype(dtype)


def write_table(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def clam_slide(folder, slide, rows, coords, *, as_tensor=False, patches=True, downsample=(2.0, 2.0), dims=(4000, 4000)):
    """Write features/h5_files or pt_files, and patches/; patch_size is 256 at a level of half the size."""
    if as_tensor:
        import torch

        (folder / "features" / "pt_files").mkdir(parents=True, exist_ok=True)
        torch.save(torch.from_numpy(rows), folder / "features" / "pt_files" / f"{slide}.pt")
    else:
        (folder / "features" / "h5_files").mkdir(parents=True, exist_ok=True)
        with h5py.File(folder / "features" / "h5_files" / f"{slide}.h5", "w") as file:
            file.create_dataset("features", data=rows, maxshape=(None, rows.shape[1]), chunks=(1, rows.shape[1]))
            file.create_dataset("coords", data=coords.astype(np.int32), maxshape=(None, 2), chunks=(1, 2))
    if patches:
        (folder / "patches").mkdir(parents=True, exist_ok=True)
        with h5py.File(folder / "patches" / f"{slide}.h5", "w") as file:
            data_set = file.create_dataset("coords", data=coords.astype(np.int64), maxshape=(None, 2), chunks=(1, 2))
            attributes = {"patch_size": 256, "patch_level": 1, "downsample": downsample, "downsampled_level_dim": dims}
            for name, value in {**attributes, "level_dim": dims, "name": slide, "save_path": "results"}.items():
                data_set.attrs[name] = value
    return folder / "features"


def trident_slide(folder, slide, rows, coords, *, encoder="uni_v1", bounds=(8000, 8000), attributes=True):
    """Write 20x_256px_0px_overlap/features_<encoder> and patches/: 256 pixels at 20×, 512 at level 0."""
    job = folder / "20x_256px_0px_overlap"
    written = {"patch_size": 256, "patch_size_level0": 512, "level0_magnification": 40, "target_magnification": 20}
    written |= {"overlap": 0, "name": slide, "savetodir": str(job)}
    written |= {"level0_width": bounds[0], "level0_height": bounds[1]}
    for name in ("patches", f"features_{encoder}"):
        (job / name).mkdir(parents=True, exist_ok=True)
    with h5py.File(job / "patches" / f"{slide}_patches.h5", "w") as file:
        file.create_dataset("coords", data=coords.astype(np.int64)).attrs.update(written)
    with h5py.File(job / f"features_{encoder}" / f"{slide}.h5", "w") as file:
        chunks = (1, rows.shape[1]) if len(rows) else None
        data_set = file.create_dataset("features", data=rows, chunks=chunks)
        data_set.attrs.update({"name": slide, "savetodir": str(job), "encoder": encoder})
        positions = file.create_dataset("coords", data=coords.astype(np.int64))
        if attributes:
            positions.attrs.update(written)
    return job / f"features_{encoder}"


def stamp_slide(folder, slide, rows, coords_um, *, unit="um", **more):
    """Write <slide>.h5 with coordinates in micrometres; an attribute of None is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    attributes = {"unit": unit, "tile_size_um": 256.0, "tile_size_px": 224, "extractor": "ctranspath"}
    attributes |= {"feat_type": "tile", "stamp_version": "2.0.0", "code_hash": "abc", **more}
    with h5py.File(folder / f"{slide}.h5", "w") as file:
        file["feats"], file["coords"] = rows, coords_um
        file.attrs.update({name: value for name, value in attributes.items() if value is not None})
    return folder


def slideflow_slide(folder, slide, rows, centres, *, tile_um=128):
    """Write <slide>.pt, <slide>.index.npz and bags_config.json."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.save(torch.from_numpy(rows), folder / f"{slide}.pt")
    np.savez(folder / f"{slide}.index.npz", centres)
    extractor = {"class": "slideflow.model.extractors.retccl.RetCCLFeatures", "kwargs": {"center_crop": True}}
    config = {"extractor": extractor, "normalizer": None, "num_features": 4, "tile_px": 256, "tile_um": tile_um}
    (folder / "bags_config.json").write_text(json.dumps(config))
    return folder
