# The one task runner. `make help` lists the targets; .ci/run calls the same recipes.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
BASE_PYTHON ?= python3
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help check test bench docs accuracy golden-update clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@$(BASE_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "suanpei needs Python 3.11 or newer: make $(MAKECMDGOALS) BASE_PYTHON=python3.12" >&2; exit 2; }
	@$(BASE_PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { echo "this Python cannot make virtual environments: apt-get install python3-venv" >&2; exit 2; }
	$(BASE_PYTHON) -m venv $(VENV)

$(STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

check: $(STAMP) ## Format, lint, types, layers, generated documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate_cli.py --check

test: $(STAMP) ## The whole test suite; makes .venv and installs what it needs when absent
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(STAMP) ## The speed and memory figures of the search
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/offers.py
	$(BIN)/python benchmarks/quotes.py
	$(BIN)/python benchmarks/mix.py

docs: $(STAMP) ## Write the generated documentation
	$(BIN)/python docs/generate_cli.py
	$(BIN)/python docs/generate_readme.py

accuracy: $(STAMP) ## Fit the calibration in full (minutes) and write it, docs/accuracy.md and its plots
	$(BIN)/python docs/generate_accuracy.py

golden-update: $(STAMP) ## Rewrite the golden files; read the difference before you commit it
	SUANPEI_GOLDEN_UPDATE=1 $(BIN)/python -m pytest tests/golden $(PYTEST_ARGS)

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
