# `make help` says what there is. Everything installs into .venv beside this file, nothing elsewhere.
PYTHON ?= python3
VENV ?= .venv
PORT ?= $(or $(MEMORY_PORT),7071)
DATA ?= $(or $(MEMORY_DATA),.memory)
WORKERS ?= auto
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup run run-azure tools test test-cosmos test-both test-long test-live lint lock docs package format bench chaos soak clean
# What one of many processes has compiled, the others read.
unexport PYTHONDONTWRITEBYTECODE

help:  ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'
	@echo "  run and run-azure honour PORT=7100 and DATA=/some/folder; run honours WORKERS=2 (a process a core, at most 4); all honour PYTHON=python3.12 when .venv is made."

# The check is written for any Python, 2.7 included, so that a too old one gets the message and not a syntax error.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Memory Core needs Python 3.11 to 3.13, this is %d.%d; name another one: make PYTHON=python3.12 run" % v)'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.local: pyproject.toml requirements.txt | $(BIN)/python
	@echo "Installing what a laptop needs into $(VENV), once (about a minute) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

# Nothing is compiled ahead: tests import 3,000 of the 9,700 modules, and compiling all of them takes a third of the time.
# What Azure gets is installed in the very versions of its lock.
$(VENV)/.dev: pyproject.toml requirements.txt $(wildcard deployment/locks/*.txt) | $(BIN)/python
	@echo "Installing what tests and linters need into $(VENV), once (a minute) …"
	@$(BIN)/python -m deployment.lock --constraints > $(VENV)/constraints.txt
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint $(VENV)/constraints.txt --editable '.[local,dev,frameworks]'
	@touch $@ $(VENV)/.local

setup: $(VENV)/.dev  ## install what tests and linters need, once (a minute); what the commands below do by themselves

run: $(VENV)/.local  ## the development host on 127.0.0.1: embedded stores, no account, no key
	@MEMORY_DATA="$(DATA)" $(BIN)/python -m memory_core.localhost --port $(PORT) --workers $(WORKERS)

run-azure: $(VENV)/.dev  ## the same on emulators of Cosmos DB and Storage and a real Redis, by the SDKs used on Azure
	@exec $(BIN)/python -m tests.azure_profile --port $(PORT) --data "$(DATA)" --parent-pid $$PPID

# Tests make these themselves where they are missing; CI makes them on the processor that waits for $(VENV)/.dev.
tools: | $(BIN)/python  ## the environments of the scanners, Microsoft's runtime and the request generator, which tests need
	-@$(BIN)/python -m tests.infra.tools
	-@$(BIN)/python -m tests.official_runtime.environment
	-@$(BIN)/python -m tests.generated_requests.environment

# The drawn examples are the same every time, so that a change is judged by what it changed; test-long draws new ones. The order is that
# of tests/conftest.py, where xdist would begin with the files of the most tests.
PYTEST = $(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder --hypothesis-profile=ci

test: $(VENV)/.dev  ## every test, the product on SQLite, from nothing
	@$(PYTEST) -m "not long and not cosmos"

test-cosmos: $(VENV)/.dev  ## the product on the emulator of Cosmos DB too
	@$(PYTEST) -m "cosmos and not long" tests/contract

test-both: $(VENV)/.dev  ## these two in one session, which collects the tests and starts the servers once
	@$(PYTEST) -m "not long"

test-long: $(VENV)/.dev  ## what takes too long for every time
	@$(BIN)/python -m pytest -q -n 3 -m long

test-live: $(VENV)/.dev  ## contracts, costs and ten questions on an account of your own: docs/live.md
	@$(BIN)/python -m pytest -q -m live tests/live

lint: $(VENV)/.dev  ## ruff, mypy, import-linter, the words of docs/glossary.md, and docstrings
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.private_words
	@$(BIN)/python -m tests.docstrings

# The versions change with it, so tests are installed anew and run before it is committed.
lock: | $(BIN)/python  ## the newest packages for Azure with their hashes: deployment/locks, docs/licences.md
	@$(BIN)/python -m deployment.lock

# Its packages are those of the extra `docs` in pyproject.toml; the service is not installed beside them.
.docs_site/.installed: pyproject.toml
	@$(PYTHON) -m venv .docs_site
	@.docs_site/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' > .docs_site/packages.txt
	@.docs_site/bin/python -m pip install --quiet --disable-pip-version-check --requirement .docs_site/packages.txt
	@touch $@

docs: .docs_site/.installed  ## the documents as a site that needs no network: site/index.html; fails where a link leads nowhere
	@NO_MKDOCS_2_WARNING=1 .docs_site/bin/mkdocs build --strict

package: $(VENV)/.dev  ## the zip that Azure gets, with its packages and byte code for Linux and Python 3.13: dist/memory-core.zip
	@$(BIN)/python -m deployment.package

format: $(VENV)/.dev  ## rewrite the code in the project's style
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## measure throughput and latency; prints tables
	@$(BIN)/python -m bench.throughput
	@$(BIN)/python -m bench.formation
	@$(BIN)/python -m bench.consolidation
	@$(BIN)/python -m bench.scale

chaos: $(VENV)/.dev  ## kill, freeze, cut and fill under load for MINUTES=2 in each profile; then nothing may be lost or doubled
	@$(BIN)/python -m bench.chaos --profile embedded --seconds $$(( $(or $(MINUTES),2) * 60 ))
	@$(BIN)/python -m bench.chaos --profile azure --seconds $$(( $(or $(MINUTES),2) * 60 ))

soak: $(VENV)/.dev  ## a steady load for MINUTES=15; then memory, files and tasks must be level
	@$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),15)

clean:  ## remove the virtual environment and caches; your data in .memory stays
	rm -rf $(VENV) .docs_site site .official_runtime .infra_tools .request_generator .cache build dist vocabulary *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
