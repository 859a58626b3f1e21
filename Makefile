# Everything a person types. The environment is .venv; nothing is installed outside this folder.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
NODE_PATH = $$(tools/node-path)
NPM = PATH="$(NODE_PATH):$$PATH" npm --prefix web
TESTS := tests $(wildcard web/e2e)
ARGS ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help up setup web dev test lint bench golden replay clean browser lock

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

up: setup web ## Set everything up; run service and sandbox (ARGS="--speed 600 …")
	@$(BIN)/instantstart up $(ARGS)

setup: $(STAMPS)/python web/node_modules/.package-lock.json ## Install what is needed into .venv and web/node_modules

$(STAMPS)/python: requirements/dev.txt pyproject.toml
	@echo "==> Python packages into $(VENV)"
	@tools/check-python $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade
	@$(BIN)/python -m pip install --progress-bar on -r requirements/dev.txt | { grep -v '^Requirement already' || true; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@mkdir -p $(STAMPS) && touch $@

web/node_modules/.package-lock.json: web/package-lock.json $(STAMPS)/python
	@echo "==> Node packages into web/node_modules"
	@tools/node-path >/dev/null
	@$(NPM) ci --no-audit --no-fund
	@touch $@

web: setup ## Build the web UI, if its sources have changed
	@$(BIN)/python -m instantstart.faces.web_build || { echo "==> Web UI"; $(NPM) run build && $(BIN)/python -m instantstart.faces.web_build; }

dev: setup web ## Service and sandbox, restarted when Python changes; the web UI by vite at port 5173
	@PATH="$(NODE_PATH):$$PATH" tools/dev $(ARGS)

lint: setup ## ruff, mypy, import-linter, types of the web UI
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(NPM) run check

test: lint web browser ## Set everything up and run every test; pytest's summary is the last line
	@$(NPM) test
	@$(BIN)/python -m pytest $(TESTS) $(ARGS)

browser:
	@test ! -d web/e2e || tools/check-browser

lock: ## Choose the newest fitting Python packages and write them to requirements/dev.txt
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/python -m uv pip compile pyproject.toml --extra dev --no-header --no-emit-index-url --no-annotate --python-version 3.11 --output-file requirements/dev.txt --quiet

bench: setup web ## Measure (minutes); fails only on counts and growth
	@for one in crash overhead agent_calls; do \
	  echo "==> bench/$$one.py"; test ! -f bench/$$one.py || $(BIN)/python -m bench.$$one; done

golden: setup ## Write OpenAPI, MCP tools and TypeScript types anew from the routes
	@$(BIN)/python tools/golden.py
	@$(NPM) run api

replay: setup ## Compare the sandbox with recordings of a real API server (RECORDINGS=DIR)
	@test -n "$(RECORDINGS)" || { echo "Say which recordings: make replay RECORDINGS=DIR" >&2; exit 2; }
	@$(BIN)/python -m instantstart_sandbox.replay "$(RECORDINGS)"

clean: ## Remove what was built; keeps .venv and web/node_modules
	@rm -rf src/instantstart/static dist web/test-results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
