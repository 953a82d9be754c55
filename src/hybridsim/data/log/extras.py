"""Packages that only some formats need."""

import importlib
from pathlib import Path
from types import ModuleType

from ..folder import DataError


def needed(module: str, path: Path) -> ModuleType:
    """The module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DataError(
            f"{path}: this format needs {module.split('.')[0]}, which is not installed; "
            'pip install "hybridsim[datasets]", or save the log as CSV or npz'
        ) from error
