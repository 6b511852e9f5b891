# Two commands do everything on a machine that has Python 3.11 or newer: `make run` and `make test`.

VENV := .venv
# Agent libraries that are heavy, or that do not install beside the others.
FRAMEWORKS := .venv-frameworks
BIN := $(VENV)/bin
PY := $(BIN)/python
CODE := $(wildcard src tests tools benchmarks)
PYTHONS := $(PYTHON) python3.13 python3.12 python3.11 python3 python

# -qq keeps pip's errors and drops its warnings.
PIP := $(PY) -m pip install -qq --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help run test test-frameworks lint format types seeds seeds-update docs docs-check bench package clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

run: $(VENV)/.installed ## set up and take the tour of a sample workspace
	@$(BIN)/prowess tour
	@echo "The program is $(BIN)/prowess."

test: $(VENV)/.dev ## set up and run the whole test suite
	@$(PY) -m pytest -n auto --dist worksteal $(ARGS)

test-frameworks: $(FRAMEWORKS)/.installed ## set up and test the adapters of heavy libraries, in their own environment
	@PROWESS_FRAMEWORKS=1 $(FRAMEWORKS)/bin/python -m pytest -n auto --dist worksteal \
	  tests/adapters/test_every_adapter.py tests/adapters/test_scenario.py tests/adapters/test_frameworks.py $(ARGS)

lint: $(VENV)/.dev ## check style and formatting
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)

format: $(VENV)/.dev ## mend style and formatting where that can be done for you
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

types: $(VENV)/.dev ## check types
	@$(BIN)/mypy $(CODE)

seeds: $(VENV)/.dev ## show which facts about the hosts are proved by which test
	@$(PY) -m tools.seeds $(ARGS)

seeds-update: $(VENV)/.dev ## write the ledger of proved facts
	@$(PY) -m tools.seeds --update

docs: $(VENV)/.dev ## write the reference pages again
	@$(PY) -m tools.reference

docs-check: $(VENV)/.dev ## fail if a reference page is out of date
	@$(PY) -m tools.reference --check

bench: $(VENV)/.dev ## measure speed against floors of this machine
	@$(PY) benchmarks/scan.py $(ARGS)
	@$(PY) benchmarks/plugins.py
	@$(PY) benchmarks/install.py
	@$(PY) benchmarks/activation.py
	@$(PY) benchmarks/sandbox.py
	@$(PY) benchmarks/agent.py

package: $(VENV)/.dev ## build the wheel and take the tour from it
	@rm -rf dist build/wheel
	@$(PY) -m pip wheel -qq --disable-pip-version-check --no-deps --wheel-dir dist .
	@$(PY) -m venv build/wheel
	@build/wheel/bin/python -m pip install -qq --disable-pip-version-check --no-input dist/*.whl
	@cd build && wheel/bin/prowess tour >/dev/null
	@ls dist/*.whl

clean: ## remove everything that make made
	@rm -rf $(VENV) $(FRAMEWORKS) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml | $(PY)
	@echo "Installing Prowess into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(PY)
	@echo "Installing Prowess and its development tools into $(VENV)"
	@$(PIP) --editable '.[all,dev]'
	@touch $(VENV)/.installed $@

$(FRAMEWORKS)/.installed: pyproject.toml | $(PY)
	@echo "Installing Prowess and agent libraries into $(FRAMEWORKS)"
	@$(PY) -m venv $(FRAMEWORKS)
	@$(FRAMEWORKS)/bin/python -m pip install -qq --disable-pip-version-check --no-input \
	  --editable '.[agent-framework,google-adk,strands]' $$(sed -n 's/^    "\(hypothesis\|pytest\|pytest-xdist\)\([^"]*\)",$$/\1\2/p' pyproject.toml)
	@touch $@

$(PY):
	@for python in $(PYTHONS); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  if ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	    echo "$$python cannot make virtual environments. Install its venv package (Debian: python3-venv)." >&2; exit 1; \
	  fi; \
	  "$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; \
	  exit 0; \
	done; \
	echo "Prowess needs Python 3.11 or newer, and none was found. Install one, or name it: make PYTHON=/path/to/python" >&2; \
	exit 1
