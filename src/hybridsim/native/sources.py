"""The code that a program is traced from: the package's source files, the globals that its functions read, and libraries.

JAX's tracing runs this code. If it is the same as in an earlier process and gets the same values, so is the program.
Where that is uncertain (a file was edited while the process ran, a function was replaced from outside), an
`UnknownPartError` says so, and the program is traced.
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache, cached_property, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .content import UnknownPartError

PACKAGE = __name__.partition(".")[0]
LIBRARIES = ("equinox", "jax", "jaxlib", "jaxtyping", "numpy", "scipy")
"""Whose code is known by its version."""
_HIDDEN = (
    "__builtins__",
    "__cached__",
    "__doc__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__path__",
    "__spec__",
)

_digests: dict[str, tuple[tuple[int, ...], str]] = {}
"""Of each source file: its times and size when it was read, and the hash of its content."""


def code_state(modules: Iterable[str]) -> str:
    """A hash of all code that can run when functions of these modules of the package are called."""
    parts = [sys.version, *(f"{name} {sys.modules[name].__version__}" for name in LIBRARIES if name in sys.modules)]
    parts += _files()
    for name, module in sorted(_reachable(modules).items()):
        parts.append(f"module {name}")
        for variable, value in sorted(vars(module).items()):
            if variable not in _HIDDEN:
                _global(variable, value, parts)
            if isinstance(value, type) and value.__module__ == name:
                for member in vars(value).values():
                    _home(_function(member), f"namedtuple_{value.__name__}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_trusted(thing: Any) -> bool:
    """Whether a function or class belongs to the package, to its libraries or to Python."""
    root = (getattr(thing, "__module__", None) or "").partition(".")[0]
    return root == PACKAGE or root in LIBRARIES or _is_standard(root)


@cache
def _is_standard(name: str) -> bool:
    """Whether a module is one of Python's, and not one of the user's that has the same name, such as test.py."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in (*sys.stdlib_module_names, "builtins") and (
        file is None or file.startswith(os.path.dirname(os.__file__))
    )


def _files() -> list[str]:
    """Each source file of the package with a hash of its content, which is that of the modules in memory."""
    package = sys.modules[PACKAGE]
    folder = os.path.dirname(package.__file__ or "")
    found = []
    for path in sorted(map(str, Path(folder).rglob("*.py"))):
        status = os.stat(path)
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
        if max(stamp[:2]) >= package._IMPORTED_AT:
            raise UnknownPartError(f"{path}, which was changed after it may have been imported")
        if path not in _digests:
            _digests[path] = stamp, hashlib.sha256(Path(path).read_bytes()).hexdigest()
        known, digest = _digests[path]
        if known != stamp:
            raise UnknownPartError(f"{path}, which was changed while this process ran")
        found.append(f"{path[len(folder) :]} {digest}")
    return found


def _reachable(names: Iterable[str]) -> dict[str, ModuleType]:
    """The modules of the package that these name, and those whose functions and classes they import, and so on."""
    found: dict[str, ModuleType] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] != PACKAGE:
            continue
        found[name] = sys.modules[name]
        for value in vars(sys.modules[name]).values():
            if isinstance(value, ModuleType):
                # Python binds the modules of a folder to its package, whoever imports them.
                if not value.__name__.startswith(f"{name}."):
                    waiting.append(value.__name__)
            elif isinstance(module := getattr(value, "__module__", None), str) and module in sys.modules:
                waiting.append(module)
    return found


def _global(name: str, value: Any, parts: list[str]) -> None:
    """A global variable: numbers and texts by value, functions and classes by where they come from.

    Objects of other kinds are what the source files make of them.
    """
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        parts.append(f"{name} = {value!r}")
    elif isinstance(value, (tuple, list)):
        for item in value:
            _global(name, item, parts)
    elif isinstance(value, frozenset):
        _global(name, sorted(value, key=repr), parts)
    elif isinstance(value, dict):
        for key, item in value.items():
            if callable(item):  # a table of functions; other dictionaries are memories of what was done
                _global(f"{name}[{key!r}]", item, parts)
    elif callable(value):
        parts.append(f"{name} = {_home(value)}")


def _function(member: Any) -> Any:
    """What an attribute of a class calls."""
    if isinstance(member, FunctionType):
        return member
    for kind, inner in (((staticmethod, classmethod), "__func__"), (property, "fget"), (cached_property, "func")):
        if isinstance(member, kind):
            return getattr(member, inner)
    return member


def _home(thing: Any, also: str = "") -> str:
    """Where a function or class is defined, if it is one: in trusted code, or in a module that is called `also`."""
    while isinstance(thing, partial):
        thing = thing.func
    if not isinstance(thing, (FunctionType, type)):
        return type(thing).__name__
    if not is_trusted(thing) and thing.__module__ != also:
        raise UnknownPartError(f"{thing.__module__}.{thing.__qualname__}, which took the place of code of {PACKAGE}")
    return f"{thing.__module__}.{thing.__qualname__}"
