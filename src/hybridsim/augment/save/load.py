"""From a file to a model."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx

from ...model import Model
from .container import NUMBERS, STRUCTURE, read_members
from .document import structure_of
from .errors import HybridFileError, briefly, damaged
from .fields import Field
from .mechanism import KEYS, PRESCRIBED, UPRIGHT, mechanism_from_json
from .networks import networks_from_json
from .numbers import Numbers


def load_hybrid(path: str | Path, networks: Mapping[str, Callable | eqx.Module] | None = None) -> Model:
    """The model that `save_hybrid` wrote, number by number. The file may be from a stranger: nothing in it is run.

    `networks`: modules of your own by the names they were saved with (`hs.Custom(module, name=...)`): the module, or the
    function that makes it; its numbers are replaced by those of the file.

    Raises `HybridFileError` where the file is damaged, of a newer version, or not a model.
    """
    path = Path(path)
    try:
        return model_of(read_members(path), networks or {})
    except HybridFileError as problem:
        raise HybridFileError(f"{path}: {problem}") from problem.__cause__
    except OSError as problem:
        raise HybridFileError(f"{path}: it cannot be read ({problem.strerror}); make it readable") from problem


def model_of(members: Mapping[str, bytes], own: Mapping[str, Any]) -> Model:
    """The model in these members."""
    structure = structure_of(members[STRUCTURE], members[NUMBERS])
    numbers = Numbers(members[NUMBERS])
    try:
        return _model(structure, numbers, own)
    except HybridFileError:
        raise
    except Exception as problem:  # what a stranger may have thought of and no check before has
        raise damaged(
            f"it describes no model that can be made ({type(problem).__name__}: {briefly(problem)})"
        ) from problem


def _model(structure: dict[str, Any], numbers: Numbers, own: Mapping[str, Any]) -> Model:
    optional = [key for key in (PRESCRIBED, UPRIGHT) if key in structure]
    fields = Field("", structure).record(*KEYS, *optional, "augmentation")
    model = mechanism_from_json(fields, numbers)
    if fields["augmentation"].value is not None:
        model = replace(model, augmentation=networks_from_json(fields["augmentation"], model, numbers, own))
    numbers.finish()
    return model
