"""The settings with which `make test-cpus` makes this processor look like another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cpu_levels import NUMPY, environment, main, why_not

PROGRAM = """
import conftest, jax, json, numpy as np, os
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from hybridsim import native
from hybridsim.native.compile import host_lanes
x = np.ones((2, 2))
print(json.dumps({
    "numpy": [name for name in __cpu_dispatch__ if __cpu_features__[name]],
    "lanes": host_lanes(),
    "flags": os.environ["XLA_FLAGS"].split(),
    "products": float(jax.jit(lambda x: x @ x)(x).sum() + (x @ x).sum() + native.jit(lambda x: (x @ x).sum())(x)),
}))
"""


@pytest.mark.parametrize("level", NUMPY)
def test_all_libraries_obey_the_level(level):
    if reason := why_not(level):
        pytest.skip(reason)
    folder = str(Path(__file__).resolve().parents[1])
    variables = {**os.environ, **environment(level), "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    allowed = " ".join(NUMPY[name] for name in list(NUMPY)[: list(NUMPY).index(level) + 1]).split()
    assert set(found["numpy"]) <= set(allowed)
    assert found["lanes"] == {"x86-64-v2": 2, "x86-64-v3": 4, "x86-64-v4": 8}[level]
    isa = {"x86-64-v2": "SSE4_2", "x86-64-v3": "AVX2", "x86-64-v4": "AVX512"}[level]
    assert f"--xla_cpu_max_isa={isa}" in found["flags"]
    assert "--xla_backend_optimization_level=0" in found["flags"]
    assert found["products"] == 24.0


def test_a_level_that_cannot_run_is_said(monkeypatch, capsys):
    monkeypatch.setattr("cpu_levels.levels", lambda: ["x86-64-v4"])
    monkeypatch.setattr("cpu_levels.why_not", lambda level: "it lacks avx512f")
    assert main([]) == 0
    assert "x86-64-v4: not run: it lacks avx512f" in capsys.readouterr().out


@pytest.mark.parametrize(("code", "word"), [(0, "passed"), (1, "FAILED")])
def test_a_level_that_fails_is_a_failure(code, word, monkeypatch, capsys):
    monkeypatch.setattr("cpu_levels.levels", lambda: ["generic"])
    monkeypatch.setattr("cpu_levels.why_not", lambda level: None)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code))
    assert main(["--tests", "tests/spatial"]) == code
    assert f"generic: {word}" in capsys.readouterr().out
