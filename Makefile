# Every target first brings .venv up to date. This takes no time if nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests run side by side on all cores, so BLAS needs one thread only.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help install run test test-all check bench reproduce clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP) ## create or update .venv

# Only pip 25.1 and newer can install dependency groups.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --group dev -e ".[all]"
	touch $@

run: $(STAMP) ## run or resume the quick sweep; write tables, heatmaps and a report to results/
	$(BIN)/imwk submit quick results/quick.zarr
	$(BIN)/imwk tables results/quick.zarr
	$(BIN)/imwk summary results/quick.zarr
	@echo "Heatmaps:"
	@$(BIN)/imwk heatmaps results/quick.zarr -o results/heatmaps
	$(BIN)/imwk report results/quick.zarr -o results/report.html

test: $(STAMP) ## run the fast tests
	$(PYTEST) -m "not slow and not reproduce"

test-all: test ## run the slow tests too; set IMWK_SHARED for those that need the published data
	$(PYTEST) -m "slow and not reproduce" -rP tests

check: $(STAMP) ## run ruff, mypy --strict, import-linter and the test of the layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_layout.py

bench: $(STAMP) ## measure speed and memory; set IMWK_SHARED to include real data
	$(BIN)/python -m benchmarks

reproduce: $(STAMP) ## recompute the published values that take long (IMWK_SHARED must be set)
	@test -n "$$IMWK_SHARED" || { echo "Set IMWK_SHARED to the folder with the published data."; exit 1; }
	$(PYTEST) -m reproduce -rP tests

clean: ## remove .venv and caches
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
