# Needs make and Python 3.11, 3.12 or 3.13; everything else is installed into .venv.
#   make demo      calibrates a two-link arm from logs; tables, and a report in out/demo/run
#   make test      formatting, types, layers and the tests that take seconds
#   make test-all  the slow tests too
#   make test-cpus tests of native code and physics as on processors with x86-64-v2, v3 and v4: NumPy, XLA, BLAS and
#                  native code use no more; LEVELS="x86-64-v2 x86-64-v3" and TESTS="tests/native" choose, OPTIONS="-n 1"
#                  go to pytest; what this processor cannot run is said
#   make fuzz      property tests with fresh seeds for MINUTES (10, or say: make fuzz MINUTES=60)
#   make bench     this engine beside jax.jit, MuJoCo, MJX, Pinocchio and TDS; writes benchmarks/RESULTS*.md
#   make gradients derivatives through contact beside differences and MJX; writes docs/gradients.md
#   make experiments  the papers' experiments with networks in the engine; tables, and figures in out/experiments
#   make lint      the checks of `make test` without the tests
#   make format    sort imports and format all files

SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c '$(SUPPORTED)' >/dev/null 2>&1 && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench

.PHONY: demo test test-all test-cpus fuzz bench gradients experiments lint format clean
.DEFAULT_GOAL := test

demo: $(RUN)
	$(BIN)/hybridsim demo

test: lint
	$(BIN)/pytest

test-all: lint
	$(BIN)/pytest -m "slow or not slow"

test-cpus: $(DEV)
	$(BIN)/python tests/cpu_levels.py $(if $(LEVELS),--levels $(LEVELS)) $(if $(TESTS),--tests $(TESTS)) -- $(OPTIONS)

MINUTES ?= 10
fuzz: $(DEV)
	$(BIN)/python tests/fuzz.py $(MINUTES)

bench: $(BENCH)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/touching.py
	$(BIN)/python benchmarks/sysid/run.py

gradients: $(BENCH)
	PYTHONPATH=benchmarks $(BIN)/python -m gradient_table

experiments: $(RUN)
	for name in swing discovery friction motor energy global-search three-link coverage unidentifiable; do $(BIN)/hybridsim experiment $$name || exit; done

lint: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) out build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11, 3.12 or 3.13 found; install one, or name it: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c '$(SUPPORTED)' || { echo "$(PYTHON) is not Python 3.11, 3.12 or 3.13; name another: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The order-only prerequisite: a new interpreter's time stamp is no reason to install again.
$(RUN): pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV), once; this takes minutes"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "installing with the developers' tools into $(VENV), once; this takes minutes"
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $(RUN) $@

$(BENCH): pyproject.toml | $(BIN)/python
	@echo "installing with the benchmark's rivals into $(VENV), once; this takes minutes"
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $(RUN) $@
