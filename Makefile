# Every target first brings .venv up to date; nothing is done when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed

# One BLAS thread: the tests use the cores by running side by side.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help install run test test-all check bench reproduce clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP) ## bring .venv up to date

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

run: $(STAMP) ## the quick sweep into results/, resumed where it stopped; tables and heatmaps of it
	$(BIN)/imwk submit quick results/quick.zarr
	$(BIN)/imwk tables results/quick.zarr
	$(BIN)/imwk summary results/quick.zarr
	@echo "Heatmaps:"
	@$(BIN)/imwk heatmaps results/quick.zarr -o results/heatmaps
	$(BIN)/imwk report results/quick.zarr -o results/report.html

test: $(STAMP) ## the fast suite
	$(PYTEST) -m "not slow and not reproduce"

test-all: test ## adds the published and golden figures
	$(PYTEST) -m "slow and not reproduce" -rP tests

check: $(STAMP) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## speed as ratios, the projected sweep, real data (IMWK_SHARED), memory
	$(BIN)/python -m benchmarks

reproduce: $(STAMP) ## the long published figures (IMWK_SHARED must be set)
	@test -n "$$IMWK_SHARED" || { echo "set IMWK_SHARED to the folder with the published data"; exit 1; }
	$(PYTEST) -m reproduce -rP tests

clean: ## remove .venv and caches
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
