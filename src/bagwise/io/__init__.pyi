__all__ = [
    "DISK_FULL",
    "EFFICIENTNET_LITE",
    "MANIFEST",
    "MAX_NUMERIC_COMPRESSION",
    "PIXELS",
    "Cells",
    "CsvTable",
    "JsonObject",
    "MappedArray",
    "MappedFile",
    "OpenFolder",
    "PlainRow",
    "check_declared_size",
    "check_disk_space",
    "check_encoder_packages",
    "check_file_exists",
    "check_free_memory",
    "check_openslide",
    "check_writable",
    "describe_owner",
    "find_damage",
    "get_free_memory",
    "hash_file",
    "hold_lock",
    "is_unused_folder",
    "limit_memory",
    "lock_folder",
    "map_again",
    "map_npy",
    "name_path_in_errors",
    "open_csv",
    "open_csv_lines",
    "read_csv",
    "read_folder",
    "read_json",
    "read_manifest",
    "read_npy",
    "read_npz",
    "read_verified_manifest",
    "recover_folder",
    "remove_temporary_files",
    "require_package",
    "write_array",
    "write_atomically",
    "write_csv",
    "write_folder_atomically",
    "write_json",
    "write_manifest",
    "write_npy_header",
]

from .atomic import (
    DISK_FULL,
    MANIFEST,
    is_unused_folder,
    name_path_in_errors,
    recover_folder,
    remove_temporary_files,
    write_atomically,
    write_folder_atomically,
)
from .csv_files import Cells, CsvTable, PlainRow, open_csv, open_csv_lines, read_csv, write_csv
from .disk_checks import check_disk_space, check_file_exists, check_writable
from .json_files import JsonObject, read_json, write_json
from .locking import describe_owner, hold_lock, lock_folder
from .manifest import find_damage, hash_file, read_manifest, read_verified_manifest, write_manifest
from .mapped_files import MappedArray, MappedFile, map_again, map_npy
from .memory_limits import (
    MAX_NUMERIC_COMPRESSION,
    check_declared_size,
    check_free_memory,
    get_free_memory,
    limit_memory,
)
from .numpy_files import read_npy, read_npz, write_array, write_npy_header
from .open_folders import OpenFolder, read_folder
from .optional_packages import EFFICIENTNET_LITE, PIXELS, check_encoder_packages, check_openslide, require_package
