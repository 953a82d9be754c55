"""Whatever happens to a file of a run folder, `hybridsim fit --resume` ends with the same result or with one sentence."""

import json
import shutil
from pathlib import Path

import pytest

from hybridsim.cli import main
from identify.damage import DAMAGE

DEMO = "src/hybridsim/assets"
PROGRESS = {
    "settings.json": "empty",
    "discovery.json": "a list",
    "calibrated/progress.npz": "cut in the middle",
    "described/progress.npz": "a folder",
    "hybrid/progress.npz": "flipped in the middle",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, repository) -> Path:
    """A finished run of the demonstration."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert main(command(repository, folder)) == 0
    return folder


def command(repository: Path, folder: Path) -> list[str]:
    logs = sorted(map(str, (repository / DEMO / "demo").glob("run*.csv")))
    return ["fit", str(repository / DEMO / "two_link_arm.urdf"), *logs, "--out", str(folder)]


def summary(folder: Path) -> dict:
    found = json.loads((folder / "summary.json").read_text())
    return {name: value for name, value in found.items() if name not in ("seconds", "warnings")}


def resumed(finished: Path, folder: Path, repository: Path, damaged: dict[str, str]) -> int:
    """The exit code of `--resume` in a copy of the run with these files damaged."""
    shutil.copytree(finished, folder)
    for name, damage in damaged.items():
        DAMAGE[damage](folder / name)
    return main([*command(repository, folder), "--resume"])


def test_damaged_progress_is_named_and_set_aside(finished, tmp_path, repository, capsys):
    damaged = {f"progress/{name}": damage for name, damage in PROGRESS.items()}
    assert resumed(finished, tmp_path / "run", repository, damaged) == 0
    said = capsys.readouterr().err
    for name in damaged:
        assert f"{tmp_path / 'run' / name} is damaged" in said
        assert (tmp_path / "run" / f"{name}.damaged-1").exists()
    assert summary(tmp_path / "run") == summary(finished)
    assert "this is a mistake of HybridSim" not in said


READ = ("progress", "fits")
WRITTEN = ("figures", "augmentation", "fit.toml", "model.hybrid", "summary.json")
CASES = [(name, damage) for name in READ for damage in DAMAGE] + [
    (name, d) for name in WRITTEN for d in ("empty", "a folder")
]


@pytest.mark.slow
@pytest.mark.parametrize(("group", "damage"), CASES)
def test_any_damage_ends_well_or_in_one_sentence(group, damage, finished, tmp_path, repository, capsys):
    """All files of a folder at once, or a single file."""
    inside = [path for path in (finished / group).rglob("*") if path.is_file()] or [finished / group]
    names = [str(path.relative_to(finished)) for path in inside]
    code = resumed(finished, tmp_path / "run", repository, dict.fromkeys(names, damage))
    said = capsys.readouterr().err.splitlines()
    assert code in (0, 2), said
    if code == 0:
        assert summary(tmp_path / "run") == summary(finished)
    else:
        assert not said[-1].startswith("hybridsim: warning")
        assert any(name in said[-1] for name in names) or "settings" in said[-1]
