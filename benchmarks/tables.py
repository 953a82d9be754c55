"""The parts that reports are made of: tables, durations, targets, and what machine this is."""

import datetime
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "hybridsim",
    "jax",
    "jaxlib",
    "equinox",
    "numpy",
    "llvmlite",
    "mujoco",
    "mujoco-mjx",
    "pin",
    "pytinydiffsim",
)


@dataclass(frozen=True)
class Target:
    """What was promised, and what was found."""

    what: str
    promised: str
    found: str
    met: bool


def at_least(what: str, found: float, limit: float) -> Target:
    """A ratio that should be large."""
    return Target(what, f"at least {limit:g} times", f"{found:.3g} times", found >= limit)


def at_most(what: str, found: float, limit: float) -> Target:
    """A time [s] that should be short."""
    return Target(what, f"at most {duration(limit)}", duration(found), found <= limit)


def targets_table(targets: list[Target]) -> str:
    return table(
        ["", "target", "found", ""],
        [[t.what, t.promised, t.found, "met" if t.met else "**not met**"] for t in targets],
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def sum_of(*seconds: float) -> str:
    """The parts of a wait in one cell."""
    return " + ".join(f"{s:.2f}" for s in seconds)


def versions() -> str:
    """Of Python and of the packages; those that are not installed are named too."""
    found, missing = [f"Python {platform.python_version()}"], []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            missing.append(package)
    return ", ".join(found) + (f"; not installed: {', '.join(missing)}" if missing else "")


def machine() -> str:
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{processor()}, {os.cpu_count()} cores{load} at the start, {datetime.date.today().isoformat()}"


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
