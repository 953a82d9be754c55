"""Set-up of all tests: double precision, property tests with a fresh seed, and where the real measurements are."""

import gc
import os
import secrets
import signal
from pathlib import Path

import hypothesis
import jax
import numpy as np
import pytest

# Most of the time of the tests is XLA's compiling, and each program runs a few times only: let it optimise less.
# It reads this when it compiles for the first time. Of flags that are given twice the last counts, so others may be set.
_QUICK = (
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
)
_given = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in _QUICK]
os.environ["XLA_FLAGS"] = " ".join([*_QUICK, *_given])
jax.config.update("jax_enable_x64", True)

# A first call compiles, so the time of one example says nothing. Hypothesis would not explore where CI is set, unless told.
hypothesis.settings.register_profile("hybridsim", deadline=None, derandomize=False, print_blob=True)
hypothesis.settings.load_profile("hybridsim")


_states: dict[np.random.Generator, dict] = {}
"""Of the generators of random numbers that test modules have, after these were imported."""


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
        generators = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
        _states.update({generator: dict(generator.bit_generator.state) for generator in generators})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Each test draws the same random numbers, whichever tests ran before it in the same process."""
    if isinstance(item, pytest.Function):
        for value in vars(item.module).values():
            if isinstance(value, np.random.Generator) and value in _states:
                value.bit_generator.state = _states[value]


# A shell ignores Ctrl-C for what it runs in the background, and processes inherit that: tests of Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MOST_MAPPINGS = 20_000
"""Linux gives a process 65,530 mappings of memory, and every compiled program takes several: one process that runs
thousands of tests would be ended by XLA when there are no more."""


def pytest_configure(config) -> None:
    """Choose the seed of all property tests, unless one is given; all workers of pytest-xdist use the main process's."""
    given = getattr(config, "workerinput", {}).get("hypothesis_seed", config.option.hypothesis_seed)
    config.option.hypothesis_seed = int(given) if given is not None else secrets.randbelow(2**32)
    # Hypothesis has looked at the option before this file was read.
    hypothesis.core.global_force_seed = config.option.hypothesis_seed


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    node.workerinput["hypothesis_seed"] = node.config.option.hypothesis_seed


def _seed(config) -> str:
    number = config.option.hypothesis_seed
    return f"property tests: seed {number}; to repeat this run, add --hypothesis-seed={number}"


def pytest_report_header(config) -> str:
    return _seed(config)


def pytest_terminal_summary(terminalreporter, config) -> None:
    """The seed once more where something failed, because pytest -q prints no header."""
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(_seed(config))


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True, scope="module")
def _forget_compiled_programs():
    """After a file of tests, if they are many."""
    yield
    mappings = Path("/proc/self/maps")
    if mappings.exists() and len(mappings.read_bytes().splitlines()) > MOST_MAPPINGS:
        jax.clear_caches()
        gc.collect()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def arm_file() -> Path:
    """The shipped two-link arm."""
    return ROOT / "src/hybridsim/assets/two_link_arm.urdf"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of measurements; tests that need it are skipped where HYBRIDSIM_DATA does not name it."""
    named = os.environ.get("HYBRIDSIM_DATA")
    if not named:
        pytest.skip("HYBRIDSIM_DATA is not set; set it to the folder of real measurements to run this test")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"HYBRIDSIM_DATA is {named!r}, which is not a folder")
    return folder
