# Every command of the house, one line each: `make help` lists them.
# Programs are always started as `.venv/bin/python -m NAME`: the start-up lines of scripts in a virtual
# environment break when the path of the checkout holds a space.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PY := .venv/bin/python
INSTALLED := .venv/.installed
TESTED_WITH := .venv/.installed-for-tests
ASSETS := static/vendor/.built
PORT ?= 8000

.PHONY: help setup assets demo test lint types run worker simulate clean

help:  ## List the commands
	@grep -hE '^[a-z]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(INSTALLED) $(ASSETS)  ## Virtual environment, locked packages, front-end files

assets: $(ASSETS)  ## Front-end packages only (KaTeX, htmx, ...)

# Nothing is left half-done: the stamp comes last, and an interrupted set-up goes on where it stopped.
$(INSTALLED): requirements.lock
	@PYTHON="$(PYTHON)" bash scripts/make_venv.sh .venv
	@echo "Installing the locked Python packages (a few minutes the first time) ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

# Libraries that only tests and benchmarks meet (a peer trainer, a model server): the application never needs them.
$(TESTED_WITH): $(INSTALLED) requirements-test.lock
	@echo "Installing the locked packages that the tests need ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements-test.lock
	@touch $@

$(ASSETS): $(INSTALLED) $(wildcard package.json package-lock.json) scripts/build_assets.py
	@echo "Building the front-end files ..."
	@$(PY) scripts/build_assets.py
	@mkdir -p $(@D) && touch $@

demo: setup  ## Everything from a bare checkout: seed, web, worker, three sign-in links
	@exec $(PY) manage.py demo --port $(PORT) $(ARGS)

test: setup $(TESTED_WITH)  ## All tests: on SQLite, and on PostgreSQL + Redis where they answer
	@exec $(PY) scripts/run_tests.py $(ARGS)

lint: $(INSTALLED)  ## Style and format, nothing changed
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(INSTALLED)  ## mypy, strict
	@$(PY) -m mypy config labeling models_prm selection tests scripts benchmarks conftest.py manage.py

run: setup  ## The web server of this checkout, reloading on changes
	@$(PY) manage.py migrate --verbosity 0
	@STEPMARK_DEBUG=true exec $(PY) manage.py runserver $(PORT)

worker: setup  ## The background worker with its clock
	@exec $(PY) -m celery -A config worker --queues default,gpu --concurrency 2 --beat \
		--schedule "$${STEPMARK_HOME:-var}/beat" --loglevel INFO

simulate: setup  ## Five simulated labelers against the server on PORT
	@exec $(PY) manage.py simulate_labelers --base-url http://127.0.0.1:$(PORT) $(ARGS)

clean:  ## Remove everything that setup made (never var/, which holds your data)
	rm -rf .venv node_modules static/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis
