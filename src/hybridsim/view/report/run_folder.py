"""The files beside the report, what was said on the way, how long it took, and with what."""

import platform
from importlib.metadata import PackageNotFoundError, version

from ...calibrate.result import Calibration
from .markup import Html, section, table, tag
from .numbers import number

_PACKAGES = ("hybridsim", "jax", "numpy", "scipy", "llvmlite")


def run_folder(calibration: Calibration, files: dict[str, str]) -> Html:
    parts: list[Html] = []
    if files:
        rows = [[tag("code", name), words] for name, words in files.items()]
        parts.append(table(["file", "what it is"], rows, (0, 1)))
    if calibration.warnings:
        items = [tag("li", tag("span", "note", class_="level look"), f" {words}") for words in calibration.warnings]
        parts += [tag("h3", "Said on the way"), tag("ul", *items, class_="plain")]
    total = sum(calibration.seconds.values())
    spent = [f"{part} {_time(seconds)}" for part, seconds in calibration.seconds.items()]
    took = f"Time: {_time(total)} ({', '.join(spent)})." if spent else ""
    made = f"Made from {calibration.model_file.name} with {', '.join(_versions())}."
    return section("files", "This run", *parts, tag("p", " ".join([took, made]).strip(), class_="small"))


def _time(seconds: float) -> str:
    return f"{number(seconds, 2)} s" if seconds < 120 else f"{number(seconds / 60, 2)} min"


def _versions() -> list[str]:
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return found
