# Everything runs in .venv, which is created from uv.lock on first use.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UV := env -u VIRTUAL_ENV -u UV_PYTHON UV_PROJECT_ENVIRONMENT=$(VENV) UV_PYTHON_DOWNLOADS=never $(BIN)/uv

.DEFAULT_GOAL := help
SINCE ?= HEAD~1

.PHONY: help demo quick test test-rest test-all ready versions coverage weights fuzz check release bench catalogue docs reference live agents clean

help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## run the demo: no key, no server
	@$(BIN)/python examples/demo.py

quick: $(READY) ## run the cheap tests of what differs from SINCE (the last commit), and the import contracts
	@$(BIN)/python -m tests.quick $(SINCE)

# Three workers, also for two processors: a test that waits for a time limit leaves its processor to another one.
test: $(READY) ## run the tests that are cheap: what a commit needs
	@$(BIN)/python -m pytest -n 3 -m fast

test-rest: $(READY) ## run the tests that `make test` leaves out: processes, weights, exhaustive ones
	@$(BIN)/python -m pytest -n 2 -m "not fast"

test-all: test test-rest ## run all tests

ready: ## run all that CI runs on a clean clone of the last commit, with an empty HOME
	@.ci/ready

versions: $(READY) ## run the cheap tests of the kernel with each Python, and the oldest and newest dependencies
	@$(BIN)/python -m release.versions $(PYTHONS)

coverage: $(READY) ## compare the lines that `make test` reaches with those of all tests
	@$(BIN)/python -m tests.reach

weights: $(READY) ## download the 1.1 GB that tests of the larger embedded model need
	@ABSTRACTCORE_CACHE="$${ABSTRACTCORE_CACHE:-.cache}" $(BIN)/abstractcore models pull all-minilm-l6-v2
	@ABSTRACTCORE_CACHE="$${ABSTRACTCORE_CACHE:-.cache}" $(BIN)/abstractcore models pull qwen2.5-coder-1.5b

fuzz: $(READY) ## run the property tests with random examples
	@$(BIN)/python -m pytest -n 2 --hypothesis-profile=fuzz tests/core/schema tests/core/testing tests/providers

check: $(READY) ## check formatting, lint, types, layers, the catalogue, licences and advisories
	@$(UV) lock --check --quiet
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo
	@for package in packages/*/pyproject.toml plugins/*/pyproject.toml; do $(BIN)/lint-imports --no-logo --config $$package || exit 1; done
	@$(BIN)/python catalogue/build.py --check
	@$(BIN)/python -m release.licences
	@$(BIN)/python -m release.advisories

release: $(READY) ## build all distributions of the last commit in dist/, and check them; nothing is published
	@$(BIN)/python -m release.build

bench: $(READY) ## run the benchmarks: CPU time per call, import time
	@$(BIN)/python benchmarks/run.py

catalogue: $(READY) ## rebuild the catalogue of models from its sources
	@$(BIN)/python catalogue/build.py

docs: $(READY) ## regenerate docs/commands.md, docs/wire-formats.md, tables of options and models, lists of formats, and the server's fields
	@$(BIN)/python -m tests.providers.wire_formats
	@$(BIN)/python -m tests.option_table
	@$(BIN)/python -m tests.embedding_table
	@$(BIN)/python -m tests.media.format_lists
	@$(BIN)/python -m tests.server.fields
	@$(BIN)/python -m tests.server.request_schemas
	@$(BIN)/python -m tests.command_page

reference: $(READY) ## build the reference of public names, from docstrings, in build/reference
	@$(BIN)/python -m tests.reference

live: $(READY) ## make a small call to every vendor whose key is set
	@$(BIN)/python -m tests.live

agents: $(READY) ## install coding agents and run each behind the server, with strict models of every API
	@$(BIN)/python -m tests.agents $(AGENTS)

clean: ## remove .venv, build output and caches
	@rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): uv.lock pyproject.toml $(wildcard packages/*/pyproject.toml plugins/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is required, but '$(PYTHON)' is older or missing: try  make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Creating .venv from uv.lock (once): 0.8 GB of packages, unless uv has them already; it takes some minutes ..."
	@test -x $(BIN)/uv || $(PYTHON) -m venv --clear $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install -qq --disable-pip-version-check \
	  "uv==$$(sed -n '/^name = "uv"$$/{n;s/^version = "\(.*\)"/\1/p;}' uv.lock)"
	@bash -o pipefail -c '$(UV) sync --frozen --all-packages --all-extras 2>&1 | sed "/^ [+] /d"'
	@touch $@
