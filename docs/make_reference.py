"""Write docs/reference.md: every public name with its signature and docstring, in the groups of docs/api.md.

    python docs/make_reference.py

All is read from the source text, so that the page is the same whatever Python writes it.
"""

import ast
import inspect
import re
import sys
from functools import cache, reduce
from pathlib import Path
from typing import Any

import hybridsim

DOCS = Path(__file__).resolve().parent
WIDTH = 110
HEAD = """# Reference

Every public name with its signature and its docstring, written by `python docs/make_reference.py` from the source. One line
each is in [api.md](api.md). `import hybridsim as hs`; what is not given has the default that is shown.
"""


def reference() -> str:
    """The whole page."""
    parts = (f"## {title}\n\n" + "\n".join(map(entry, names)) for title, names in groups().items())
    return "\n".join([HEAD, *parts])


def groups() -> dict[str, list[str]]:
    """The public names under the headings of docs/api.md, in its order; those of `native` by their full names."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in (DOCS / "api.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif entry_of_list := re.match(r"- `(\w+)", line):
            found.setdefault(title, []).append(entry_of_list[1])
        elif row_of_table := re.match(r"\| `(\w+)", line):
            found.setdefault(title, []).append(f"native.{row_of_table[1]}")
    return found


def entry(name: str) -> str:
    """Heading, signature, docstring, and of a class its fields and methods."""
    thing, words = _thing(name), documentation(name)
    if inspect.ismodule(thing):
        return f"### `{name}`\n\n{words}\n"
    node = definition(name)
    if isinstance(node, ast.ClassDef):
        return "\n\n".join(filter(None, (f"### `class {name}`", words, _members(thing)))).rstrip() + "\n"
    return f"### `{name}`\n\n```text\n{_signature(name, node)}\n```\n\n{words}\n"


def documentation(name: str) -> str:
    """The docstring that the author wrote, or none; where it explains arguments, a list of them."""
    thing = _thing(name)
    text = inspect.getdoc(thing) if inspect.ismodule(thing) else ast.get_docstring(definition(name))
    return re.sub(r"^(`\w+`:)", r"- \1", text or "", flags=re.MULTILINE)


def definition(name: str) -> ast.FunctionDef | ast.ClassDef:
    """Where the source defines a function or a class."""
    return _defined(_thing(name).__module__)[_thing(name).__name__]


def _thing(name: str) -> Any:
    return reduce(getattr, name.split("."), hybridsim)


@cache
def _defined(module: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Functions and classes of a module's file."""
    text = Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _signature(name: str, node: ast.FunctionDef, method: bool = False) -> str:
    """On one line if it fits, else one argument a line."""
    first = 1 if method and not any(_code(decorator) == "staticmethod" for decorator in node.decorator_list) else 0
    listed = _arguments(node.args)[first:]
    result = f" -> {_code(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(listed)}){result}"
    return line if method or len(line) <= WIDTH else f"{name}(\n    " + ",\n    ".join(listed) + f",\n){result}"


def _arguments(given: ast.arguments) -> list[str]:
    """Each with its type and default."""
    places = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(places) - len(given.defaults)) + [*given.defaults]
    listed = [_argument(a, d) for a, d in zip(places, defaults, strict=True)]
    if given.vararg:
        listed.append("*" + _argument(given.vararg, None))
    elif given.kwonlyargs:
        listed.append("*")
    listed += [_argument(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return listed + (["**" + _argument(given.kwarg, None)] if given.kwarg else [])


def _argument(given: ast.arg, default: ast.expr | None) -> str:
    kind = f": {_code(given.annotation)}" if given.annotation else ""
    value = "" if default is None else f" = {_code(default)}" if kind else f"={_code(default)}"
    return given.arg + kind + value


def _code(node: ast.expr) -> str:
    """As written; shapes of arrays without the blank by which a single name is told from code."""
    return re.sub(r"' (\w+)'", r"'\1'", ast.unparse(node))


def _members(kind: type) -> str:
    """Fields and explained methods, before its own those of base classes that are not on the page themselves."""
    lines: dict[str, str] = {}
    bases = [
        k for k in kind.__mro__[1:] if k.__module__.startswith("hybridsim") and k.__name__ not in hybridsim.__all__
    ]
    for base in [*reversed(bases), kind]:
        body = _defined(base.__module__)[base.__name__].body
        for node, after in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, ast.AnnAssign) and "ClassVar" not in _code(node.annotation):
                name, words = _code(node.target), _text(after)
                said = f"{name}: {_code(node.annotation)}{_default(node.value)}"
            elif isinstance(node, ast.FunctionDef) and (told := ast.get_docstring(node)):
                name, words, said = node.name, told.split("\n\n")[0], f".{_signature(node.name, node, method=True)}"
                if any("property" in _code(decorator) for decorator in node.decorator_list):
                    said = said.replace("()", "", 1)
            else:
                continue
            if not name.startswith("_"):
                lines[name] = f"- `{said}`" + (f": {' '.join(words.split())}" if words else "")
    return "\n".join(lines.values())


def _text(node: ast.stmt | None) -> str:
    """The string under a field that says what it is."""
    told = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ""
    return told if isinstance(told, str) else ""


def _default(value: ast.expr | None) -> str:
    """What a field is unless given; a call of `field` says how it is stored, which is nobody's business."""
    return "" if value is None or "field(" in _code(value) else f" = {_code(value)}"


if __name__ == "__main__":
    (DOCS / "reference.md").write_text(reference(), encoding="utf-8")
