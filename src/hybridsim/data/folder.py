"""Where the measurements are: a folder that an environment variable names, with one folder a dataset in it."""

import os
from pathlib import Path

VARIABLE = "HYBRIDSIM_DATA"
"""The environment variable that names the folder of all datasets."""


class DataError(ValueError):
    """Measurements that are not there or cannot be read."""


def data_folder(dataset: str) -> Path:
    """The folder of one dataset."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        raise DataError(
            f"dataset {dataset!r} is looked for in the folder that the environment variable {VARIABLE} names, "
            f"but it is not set; set it to the folder that holds {dataset}/"
        )
    folder = Path(named).expanduser() / dataset
    if not folder.is_dir():
        raise DataError(
            f"dataset {dataset!r}: there is no folder {folder}; "
            f"set {VARIABLE} (now {named!r}) to the folder that holds {dataset}/"
        )
    return folder
