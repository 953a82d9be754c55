"""docs/reference.md is what its script makes of the source, and the source explains every public name."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import hybridsim

DOCS = Path(__file__).resolve().parents[2] / "docs"
make_reference = SimpleNamespace(**runpy.run_path(str(DOCS / "make_reference.py")))

NAMES = [*hybridsim.__all__, *(f"native.{name}" for name in hybridsim.native.__all__)]


def test_the_page_is_what_the_script_makes():
    made = make_reference.reference()
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == made, "run `python docs/make_reference.py`"


def test_every_public_name_is_on_the_page_once():
    listed = [name for names in make_reference.groups().values() for name in names]
    assert sorted(listed) == sorted(NAMES)


def test_public_names_have_docstrings():
    assert [name for name in NAMES if not make_reference.documentation(name)] == []


def test_signatures_have_types_and_defaults():
    assert "### `save`\n\n```text\nsave(model: Model, path: str | Path, like: str | Path | None = None) -> None\n" in (
        make_reference.entry("save")
    )
    assert "- `timestep: Float[Array, '']`: Used where a call names none [s].\n" in make_reference.entry("Model")
    assert "- `.nq -> int`: Size of q.\n" in make_reference.entry("Model")
    assert "- `ratio: float = 1.0`\n" in make_reference.entry("Mimic")
