"""The public surface is what the documentation lists, and every part of it is explained."""

import inspect
import re

import hybridsim


def documented(repository) -> dict[str, str]:
    """Name and explanation of every entry of docs/api.md: lines of the form "- `name`: explanation"."""
    text = (repository / "docs/api.md").read_text()
    return dict(re.findall(r"^- `(\w+)[^`]*`: (.+)", text, flags=re.MULTILINE))


def test_documentation_lists_exactly_the_exports(repository):
    listed = set(documented(repository))
    assert listed - set(hybridsim.__all__) == set(), "listed in docs/api.md but not exported"
    assert set(hybridsim.__all__) - listed == set(), "exported but not listed in docs/api.md"


def test_every_entry_is_listed_once(repository):
    names = re.findall(r"^- `(\w+)", (repository / "docs/api.md").read_text(), flags=re.MULTILINE)
    assert sorted(names) == sorted(set(names))


def test_exports_exist_and_are_sorted():
    # As ruff sorts them: names in capitals first, then classes, then functions.
    assert hybridsim.__all__ == sorted(hybridsim.__all__, key=lambda name: (not name.isupper(), name))
    for name in hybridsim.__all__:
        assert hasattr(hybridsim, name), name


def test_signatures_in_the_documentation_are_those_of_the_code(repository):
    """An entry `name(a, b, c=...)` names the function's arguments in their order."""
    text = (repository / "docs/api.md").read_text()
    entries = re.findall(r"^- `(\w+)\(([^`]*)\)`", text, flags=re.MULTILINE)
    assert entries
    for name, arguments in entries:
        shown = [argument.split("=")[0].strip() for argument in arguments.split(",") if argument.strip()]
        actual = inspect.signature(getattr(hybridsim, name)).parameters.values()
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        assert shown == [marks.get(p.kind, "") + p.name for p in actual], name


def test_every_export_has_a_docstring():
    missing = []
    for name in hybridsim.__all__:
        thing = getattr(hybridsim, name)
        own = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
        # A dataclass without a docstring is given its signature.
        if not own or own.startswith(f"{name}("):
            missing.append(name)
    assert not missing
