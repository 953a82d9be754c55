"""How accurate and how fast the elementary functions are, as the tables of docs/native-functions.md.

From the folder tests:  python -m native.measure_functions [samples per range]
"""

import ctypes
import re
import sys
import time

import numpy as np

from hybridsim.native.compile import compile_text, pointer
from hybridsim.native.functions import FUNCTIONS
from hybridsim.native.types import F32, F64, Type

from .function_cases import CASES, errors
from .kernels import Expansion, evaluate, kernel_text

COUNT = 4096
REPEATS = 500
IN_C = frozenset(FUNCTIONS) - {"logistic", "erf_inv"}


def accuracy(samples: int) -> None:
    print("| function | largest error [ulp], by range |")  # noqa: T201
    print("|---|---|")  # noqa: T201
    for name, case in CASES.items():
        found = []
        for where, make in case.ranges.items():
            arguments = make(np.random.default_rng(5), samples)
            found.append(f"{where} {errors(evaluate(name, *arguments, lanes=4), case, arguments).max():.2f}")
        print(f"| {name} | {'; '.join(found)} |", flush=True)  # noqa: T201


def speed() -> None:
    print("| function | 1 lane | 4 lanes | float32, 4 lanes | C library |")  # noqa: T201
    print("|---|---|---|---|---|")  # noqa: T201
    for name, expansion in {"sin and cos": _sin_and_cos, **FUNCTIONS}.items():
        case = CASES.get(name, CASES["sin"])
        arguments = next(iter(case.ranges.values()))(np.random.default_rng(0), COUNT)
        times = [_nanoseconds(expansion, arguments, 1), _nanoseconds(expansion, arguments, 4)]
        times.append(_nanoseconds(expansion, arguments, 4, F32))
        if name in IN_C or name not in FUNCTIONS:
            library = [lambda s, *a, n=n: s.g.value(n, a, F64) for n in name.split(" and ")]
            times.append(_nanoseconds(lambda s, *a, f=library: _total(s, [g(s, *a) for g in f]), arguments, 1))
        print(f"| {name} | {' | '.join(f'{t:.1f}' for t in times)} |{' |' * (4 - len(times))}", flush=True)  # noqa: T201


def _sin_and_cos(s, x: int) -> int:
    return _total(s, [FUNCTIONS["sin"](s, x), FUNCTIONS["cos"](s, x)])


def _total(s, values: list[int]) -> int:
    return values[0] if len(values) == 1 else s.add(*values)


def _nanoseconds(expansion: Expansion, arguments: tuple[np.ndarray, ...], lanes: int, type: Type = F64) -> float:
    """Of one result, in a loop over an array; the shortest of many runs."""
    text = kernel_text(expansion, len(arguments), lanes, type, COUNT // lanes)
    # One lane is to mean one: without this LLVM makes lanes of its own where a loop has no branch.
    text = re.sub(r"(br i1 %v\d+\.more, .*)", r"\1, !llvm.loop !0", text)
    text += '\n!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.vectorize.enable", i1 false}\n'
    compiled = compile_text(text, "kernel")
    call = pointer(compiled, *[ctypes.c_void_p] * 3)
    with np.errstate(over="ignore", under="ignore"):
        inputs = [np.ascontiguousarray(x[:COUNT], type.dtype) for x in arguments]
    out = np.empty(COUNT, type.dtype)
    sources = (ctypes.c_void_p * len(inputs))(*(x.ctypes.data for x in inputs))
    target = (ctypes.c_void_p * 1)(out.ctypes.data)
    best = np.inf
    for _ in range(REPEATS):
        started = time.perf_counter()
        call(sources, target, None)
        best = min(best, time.perf_counter() - started)
    return best / COUNT * 1e9


if __name__ == "__main__":
    accuracy(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    speed()
