"""From a model to a file, which is read back before it takes the place of an older one."""

from pathlib import Path
from typing import Any

import jax

from ...model import Model
from ..acting import Networks
from ..networks import Custom
from .container import NUMBERS, ROBOTS, STRUCTURE, check_sizes
from .document import as_text
from .errors import HybridFileError, damaged
from .load import model_of
from .mechanism import mechanism_to_json
from .networks import networks_to_json
from .numbers import numbers_of, to_bytes
from .write import check_target, write_members


def save_hybrid(model: Model, path: str | Path, like: str | Path | None = None) -> None:
    """Writes a model, with or without networks, such that `load_hybrid` gives it back number by number.

    `path`: a folder; or one file, if the name ends with ".hybrid". An older model there is replaced; anything else is not.
    `like`: a URDF or MJCF file of which a copy is put beside the model, for people; loading does not need it.

    Nothing is pickled: a module of your own (`hs.Custom`) is saved by its name and its arrays, without its code.
    """
    path = Path(path)
    try:
        # A link is followed, or it would be replaced and not what it points to.
        check_target(path.resolve())
        members = members_of(model) | _copy(like)
        check_sizes(members)
        write_members(path.resolve(), members)
    except HybridFileError as problem:
        raise HybridFileError(f"{path}: not saved: {problem}") from problem.__cause__
    except OSError as problem:
        raise HybridFileError(f"{path}: not saved: {problem}; choose a folder in which you may write") from problem


def members_of(model: Model) -> dict[str, bytes]:
    """The content of the files, from which the same model was made again."""
    networks = model.augmentation
    if networks is not None and not isinstance(networks, Networks):
        raise damaged(f"its augmentation is {type(networks).__name__}, which only its author can save", "remove it")
    own = _own(networks)
    numbers = to_bytes(numbers_of(model))
    structure = _structure(model)
    members = {STRUCTURE: as_text(structure, numbers), NUMBERS: numbers}
    try:
        again = model_of(members, own)
    except HybridFileError as problem:
        raise damaged(
            f"it could not be loaded again ({problem.what})", "give one model whose arrays have the shapes of its parts"
        ) from problem
    # Modules of the user's own may have functions in them that are not equal when they are made again.
    same = own or jax.tree.structure(again) == jax.tree.structure(model)
    if not same or _structure(again) != structure or to_bytes(numbers_of(again)) != numbers:
        raise damaged("loading it would give another model", "report this as an error of HybridSim, with the model")
    return members


def _structure(model: Model) -> dict[str, Any]:
    networks = model.augmentation
    found = networks_to_json(networks) if isinstance(networks, Networks) else None
    return mechanism_to_json(model) | {"augmentation": found}


def _own(networks: Networks | None) -> dict[str, Any]:
    """Modules of the user's own by name."""
    found: dict[str, Custom] = {}
    waiting: list[Any] = [site.plan.augment.network for site in networks.sites] if networks else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, Custom):
            other = found.setdefault(value.name, value)
            if other.module is not value.module:
                raise damaged(
                    f"two networks of your own are called {value.name!r}",
                    "name each: hs.Custom(module, name=...)",
                )
        elif isinstance(value, tuple | list):
            waiting += value
        elif hasattr(value, "__dataclass_fields__"):
            waiting += [getattr(value, name) for name in value.__dataclass_fields__]
    return found


def _copy(like: str | Path | None) -> dict[str, bytes]:
    if like is None:
        return {}
    like = Path(like)
    if like.suffix not in (".urdf", ".xml", ".mjcf"):
        raise damaged(f"like is {like}", "give a .urdf or .xml file")
    try:
        content = like.read_bytes()
    except OSError as error:
        raise damaged(f"{like} cannot be read ({error.strerror})", "give the file that the model is from") from None
    return {ROBOTS[0] if like.suffix == ".urdf" else ROBOTS[1]: content}
