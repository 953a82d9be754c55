"""The processor that code is compiled for: this one, or the level of instructions that HYBRIDSIM_TARGET names.

Code for a lower level runs on other machines as well, so they can share a cache; and tests see what other machines see.
Results are the same to the last bit on all of them: a fused product is a call of the C library where there is no instruction.
"""

import functools
import os
from dataclasses import dataclass

import llvmlite.binding as llvm

NATIVE = "native"

LEVELS = {
    "x86-64": (2, "sse2"),
    "x86-64-v2": (2, "cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2"),
    "x86-64-v3": (4, "avx avx2 bmi bmi2 f16c fma lzcnt movbe"),
    "x86-64-v4": (8, "avx512f avx512bw avx512cd avx512dq avx512vl"),
}
"""Of the x86-64 psABI: how many doubles a vector register holds, and what the level adds to the one before."""


@dataclass(frozen=True)
class Target:
    """A processor as LLVM describes it."""

    cpu: str
    features: str
    lanes: int
    """How many doubles a vector register holds."""


def target() -> Target:
    """What HYBRIDSIM_TARGET names."""
    return _named(os.environ.get("HYBRIDSIM_TARGET", "").strip() or NATIVE)


def levels() -> list[str]:
    """The names besides `native` that code for this kind of machine may have."""
    return list(LEVELS) if llvm.get_default_triple().startswith("x86_64") else ["generic"]


@functools.cache
def _named(name: str) -> Target:
    host = llvm.get_host_cpu_features()
    if name == NATIVE:
        lanes = 8 if host.get("avx512f") else 4 if host.get("avx") else 2
        return Target(llvm.get_host_cpu_name(), host.flatten(), lanes)
    if name not in levels():
        valid = ", ".join([NATIVE, *levels()])
        raise ValueError(f"HYBRIDSIM_TARGET is {name!r}, which is no target of this machine; it may be {valid}")
    if name not in LEVELS:
        return Target(name, "", 2)
    below = list(LEVELS)[: list(LEVELS).index(name) + 1]
    needed = [feature for level in below for feature in LEVELS[level][1].split()]
    if missing := [feature for feature in needed if not host.get(feature)]:
        raise ValueError(
            f"HYBRIDSIM_TARGET is {name!r}, which this processor cannot run: it lacks {', '.join(missing)}; "
            f"choose a lower level, or {NATIVE}"
        )
    return Target(name, "", LEVELS[name][0])
