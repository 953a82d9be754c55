"""Every example in the documentation runs, every link leads somewhere, every command exists."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[str]:
    return [code for language, code in FENCE.findall(page.read_text()) if language == "python"]


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=page_name)
def test_examples_run(page, tmp_path, arm_file):
    """All examples of a page, one after the other, in a new process and an empty folder with the shipped arm."""
    place = tmp_path / "src/hybridsim/assets"
    place.mkdir(parents=True)
    shutil.copy(arm_file, place)
    # Blank lines keep the line numbers of the page in error messages.
    text, program = page.read_text(), ""
    for match in FENCE.finditer(text):
        if match.group(1) == "python":
            line = text.count("\n", 0, match.start(2))
            program += "\n" * (line - program.count("\n")) + match.group(2)
    script = tmp_path / f"{page.stem}.py"
    script.write_text(program)
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        # Half of the time is compilation; how fast the result is does not matter here.
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "JAX_DISABLE_MOST_OPTIMIZATIONS": "true"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    files = [target.split("#")[0] for target in targets if not target.startswith(("http://", "https://", "#"))]
    assert not [file for file in files if not (page.parent / file).exists()]


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"\bmake ([a-z-]+)\b", " ".join(_code(page))))
        assert named <= targets, page_name(page)


def _code(page: Path) -> list[str]:
    """Fenced blocks that are not Python, and code within sentences."""
    text = page.read_text()
    blocks = [code for language, code in FENCE.findall(text) if language != "python"]
    return blocks + re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
