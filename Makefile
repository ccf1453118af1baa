# One environment in .venv, made by uv where it is installed, otherwise by venv and pip from the same lock.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3.14 python3; do \
	if $$name -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done)
ARGS ?=
# A database of its own for each process, and one process more than processors: many tests wait for others or for a disk.
PROCESSES := $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))
PARALLEL ?= --numprocesses $(PROCESSES) --maxprocesses 8 --dist loadfile

.PHONY: help env demo test check lint types layers collected tests test-slow format docs lock wheel clean distclean \
	bench-quality bench-answers bench-behaviour bench-remarks bench-worth bench-asked bench-speed bench-scale bench-peers bench-report

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: .venv/made ## Make the environment in .venv

.venv/made: pyproject.toml uv.lock requirements.lock
ifneq ($(UV),)
	@echo "Making the environment with uv"
	@uv sync --frozen --quiet --python '>=3.11,<3.14' # wordllama has no wheel for a newer one
else
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or install uv."; exit 1; }
	@echo "Making the environment with $(PYTHON) and pip; the first time takes a minute or two"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv \
		|| { rm -rf .venv; echo "Python's venv module is missing (on Debian: apt install python3-venv), or install uv."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
endif
	@touch $@

demo: env ## Show Engram at work on a conversation of several months
	@$(BIN)/engram demo $(ARGS)

test: lint layers ## Check everything: style, types, layers, tests
	@$(MAKE) --jobs 2 types collected
	@$(MAKE) tests

check: lint types layers ## Check style, types and layers only

lint: env ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: env ## Check types
	@$(BIN)/mypy

layers: env ## Check that rooms import downwards only
	@$(BIN)/lint-imports

# The tests start hundreds of processes: where no bytecode is kept, each of them would compile the library anew.
tests collected test-slow: export PYTHONDONTWRITEBYTECODE =

# In a fresh checkout each process of the tests would compile all of them: one does, while the types keep one processor busy.
collected: env
	@$(BIN)/python -m pytest --collect-only --quiet $(ARGS) >/dev/null 2>&1 || true # what is wrong with them, they say

# Real processes are killed and raced here, and a machine may stall: what failed is run once more, alone. Failing twice fails.
tests: env ## Run the tests (ARGS='-k name' chooses some)
	@$(BIN)/python -m pytest $(PARALLEL) $(ARGS) || { test $$? -eq 1 && echo "Once more, what failed:" \
		&& $(BIN)/python -m pytest $(ARGS) --last-failed --last-failed-no-failures none --maxfail 5; }

test-slow: env ## Run the long forms of the tests
	@$(BIN)/python -m pytest -m slow $(ARGS)

format: env ## Put the code into form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: env ## Write the pages of docs/reference that repeat the code
	@$(BIN)/python docs/reference/generate.py

bench-quality: env ## Measure what is found, against labels (ARGS='--data locomo=PATH' adds a set)
	@$(BIN)/python benchmarks/quality.py $(ARGS)

bench-answers: env ## Measure answers with a language model as reader and judge (needs a key)
	@$(BIN)/python benchmarks/answers.py $(ARGS)

bench-behaviour: env ## Measure what becomes of facts that change
	@$(BIN)/python benchmarks/behaviour.py $(ARGS)

bench-remarks: env ## Measure what an ordinary remark puts away
	@$(BIN)/python benchmarks/remarks.py $(ARGS)

bench-worth: env ## Measure what of a conversation is kept, and what of it is junk
	@$(BIN)/python benchmarks/worth.py $(ARGS)

bench-asked: env ## Measure what is kept of answers in a word, and found again
	@$(BIN)/python benchmarks/asked.py $(ARGS)

bench-speed: env ## Measure milliseconds beside their floors
	@$(BIN)/python benchmarks/speed.py $(ARGS)

bench-scale: env ## Measure what more memories and more tenants cost
	@$(BIN)/python benchmarks/scale.py $(ARGS)

bench-peers: env ## Measure other memory libraries on the same data
	@$(BIN)/python benchmarks/peers/run.py $(ARGS)

bench-report: env ## Write docs/benchmarks.md from benchmarks/results
	@$(BIN)/python benchmarks/report.py

lock: ## Resolve the dependencies anew (needs uv)
	@uv lock --upgrade
	@uv export --quiet --frozen --no-emit-project --no-header --output-file requirements.lock

wheel: env ## Build the wheel into dist
	@$(BIN)/python -m hatchling build --target wheel

clean: ## Remove what the tools leave behind
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	@find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## Remove the environment too
	@rm -rf .venv
