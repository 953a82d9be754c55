"""Run tests as other processors would, one level of x86-64 after the other: `python tests/cpu_levels.py --help`.

Besides native code, NumPy, XLA, BLAS and the C library choose their instructions by what the processor has, and so do
their last digits. Here all of them are told of no more than a level has. Eigen, inside of XLA, cannot be told.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from hybridsim.native.target import levels, target

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tests/native", "tests/spatial", "tests/model", "tests/simulate", "tests/physics/invariants")

NUMPY = {
    "x86-64-v2": "SSE SSE2 SSE3 SSSE3 SSE41 POPCNT SSE42 X86_V2",
    "x86-64-v3": "AVX F16C FMA3 AVX2 X86_V3",
    "x86-64-v4": "AVX512F AVX512CD AVX512_SKX X86_V4",
}
"""What each level adds to the one before, as versions of NumPy call it."""

XLA = {"x86-64-v2": "SSE4_2", "x86-64-v3": "AVX2", "x86-64-v4": "AVX512"}
BLAS = {"x86-64-v2": "Nehalem", "x86-64-v3": "Haswell", "x86-64-v4": "SkylakeX"}
LIBRARY = {"x86-64-v2": "-AVX2,-FMA,-FMA4,-AVX512F", "x86-64-v3": "-AVX512F", "x86-64-v4": ""}


def environment(level: str) -> dict[str, str]:
    """The variables that limit everything to a level; elsewhere than on x86-64, native code only."""
    if level not in NUMPY:
        return {"HYBRIDSIM_TARGET": level}
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={XLA[level]}"
    return {
        "HYBRIDSIM_TARGET": level,
        "NPY_DISABLE_CPU_FEATURES": " ".join(_above(level)),
        "XLA_FLAGS": flags.strip(),
        "OPENBLAS_CORETYPE": BLAS[level],
        "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={LIBRARY[level]}",
    }


def _above(level: str) -> list[str]:
    """Features of this processor that NumPy uses and that the level has not."""
    umath = np._core._multiarray_umath  # pyright: ignore[reportAttributeAccessIssue]
    kept = {name for below in list(NUMPY)[: list(NUMPY).index(level) + 1] for name in NUMPY[below].split()}
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name] and name not in kept]


def why_not(level: str) -> str | None:
    """Why this processor cannot run a level, or None."""
    before = os.environ.get("HYBRIDSIM_TARGET")
    os.environ["HYBRIDSIM_TARGET"] = level
    try:
        target()
    except ValueError as error:
        return str(error)
    finally:
        os.environ.pop("HYBRIDSIM_TARGET")
        if before is not None:
            os.environ["HYBRIDSIM_TARGET"] = before
    return None


def main(arguments: list[str]) -> int:
    """Run pytest for every level; the exit code is 1 if one fails."""
    known = [level for level in levels() if level in NUMPY or level == "generic"]
    parser = argparse.ArgumentParser(description="Run tests as on other processors.")
    parser.add_argument("--levels", nargs="*", default=known, choices=known, help="by default all of this machine")
    parser.add_argument("--tests", nargs="*", default=FOLDERS, help="folders, files or tests")
    parser.add_argument("options", nargs="*", help="after --: options of pytest")
    chosen = parser.parse_args(arguments)
    outcomes = {}
    for level in chosen.levels:
        if reason := why_not(level):
            outcomes[level] = f"not run: {reason}"
            continue
        settings = environment(level)
        sys.stdout.write(f"\n{level}: " + " ".join(f"{name}={value!r}" for name, value in settings.items()) + "\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "pytest", *chosen.tests, *chosen.options]
        run = subprocess.run(command, cwd=ROOT, env=os.environ | settings)
        outcomes[level] = "passed" if run.returncode == 0 else "FAILED"
    sys.stdout.write("\n" + "".join(f"{level}: {outcome}\n" for level, outcome in outcomes.items()))
    return int("FAILED" in outcomes.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
