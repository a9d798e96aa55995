# Nuggetstream. `make demo` and `make test` set up what they need; `make` alone lists the targets.

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full test-quick lint check types contracts manifests docs fidelity chaos mutations chart sbom bench-ratings bench-store bench-cpu bench-storage bench-llm real-model bench-intake bench-retrieval bench-live bench-scraper image-test format proto digests clean

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# TORCH=1 adds sentence-transformers and torch: bge-m3, other embedding models, GPUs.
TORCH ?=
comma := ,
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed$(if $(TORCH),-torch)
DEV_STAMP := $(VENV)/.installed-dev
# Processes have brokers, databases and ports of their own. One per core computes; tests that start platforms
# wait for half of their time, so there are twice as many.
PARALLEL := -n logical --maxprocesses 8
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Parts of `make check` run beside each other.
MAKEFLAGS += --jobs=$(or $(CORES),2)
WAITING := -n $(shell echo $$(( $(or $(CORES),2) * 2 ))) --maxprocesses 8

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## install into .venv; TORCH=1 adds torch: bge-m3, other embedding models, GPUs

demo: $(STAMP)  ## run the demo: battles streamed through the whole platform, one explained
	@$(BIN)/nuggetstream demo

test: $(DEV_STAMP)  ## run the tests (NUGGETSTREAM_DATA=folder adds those on recorded battles)
	@$(BIN)/pytest $(WAITING) -m 'not full'

test-full: $(DEV_STAMP)  ## run these and every further case: both databases, themes, seeds, small benchmarks
	@$(BIN)/pytest $(WAITING)

test-quick: $(DEV_STAMP)  ## run the unit tests: no broker, database server, browser, model or recorded battles
	@$(BIN)/pytest $(PARALLEL) --hypothesis-profile quick -m 'not (full or slow or broker or postgresql or browser or recorded)' \
		tests/architecture tests/contract tests/nuggetstream tests/services nuggetstream services

fidelity: $(STAMP)  ## compute the reference numbers again (NUGGETSTREAM_DATA=folder) and compare
	@$(BIN)/nuggetstream fidelity

lint: $(DEV_STAMP)  ## lint, formatting, import rules: what pre-commit runs before a commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

check: types manifests lint contracts  ## lint, formatting, types, import rules, contracts, stubs, manifests; no tests

types: $(DEV_STAMP)  ## check types
	$(BIN)/mypy

contracts: $(DEV_STAMP)  ## check the contracts in proto/, and that what is generated from them is up to date
	$(BIN)/buf lint proto
	$(BIN)/python proto/generate.py --check

docs: $(DEV_STAMP)  ## build the documentation site in build/docs; every warning is an error
	@$(BIN)/python -m sphinx --builder html --jobs auto --fresh-env --fail-on-warning --keep-going --quiet \
		--doctree-dir build/doctrees docs build/docs
	@echo "open build/docs/index.html"

manifests: $(DEV_STAMP) .venv-checkov/.installed k8s/checks/node_modules  ## render and check deploy/ and k8s/
	$(BIN)/python -m k8s.checks

# checkov pins many packages that others need newer, so it has an environment of its own.
.venv-checkov/.installed:
	@echo "setting up .venv-checkov (once)"
	@"$(PYTHON)" -m venv .venv-checkov
ifdef HASHES
	@.venv-checkov/bin/pip install --quiet --no-compile --disable-pip-version-check --require-hashes --no-deps --requirement deploy/requirements/checkov.txt
else
	@.venv-checkov/bin/pip install --quiet --no-compile --disable-pip-version-check checkov==3.3.30
endif
	@touch $@

k8s/checks/node_modules: k8s/checks/package-lock.json
	@if command -v npm >/dev/null; then npm ci --silent --ignore-scripts --prefix k8s/checks && touch $@; \
	else echo "npm is missing: KEDA and Prometheus kinds are not validated"; test -z "$$CI"; fi

chart: $(DEV_STAMP)  ## write the Helm chart into build/chart, from the manifests of k8s/ (needs kubectl)
	$(BIN)/python -m k8s.chart build/chart

sbom: .venv-sbom/.installed  ## write the Python packages of each image, with hashes, as CycloneDX into build/sbom
	@mkdir -p build/sbom
	@for file in $(filter-out %/build.txt %/checkov.txt %/ci.txt,$(wildcard deploy/requirements/*.txt)); do \
		.venv-sbom/bin/cyclonedx-py requirements $$file --output-reproducible \
			--output-file build/sbom/$$(basename $$file .txt).cdx.json || exit 1; done
	@ls build/sbom/*

.venv-sbom/.installed:
	@echo "setting up .venv-sbom (once)"
	@"$(PYTHON)" -m venv .venv-sbom
	@.venv-sbom/bin/pip install --quiet --no-compile --disable-pip-version-check cyclonedx-bom==7.5.0
	@touch $@

image-test: $(DEV_STAMP)  ## build and run one image without an engine (SERVICE=scraper)
	@PYTHONPATH=. $(BIN)/python deploy/image_test.py $(SERVICE)

# SCALE=full: 500 battles, three brokers, two replicas of each worker. SEED=n repeats a run.
chaos: $(DEV_STAMP)  ## kill services and brokers, stop PostgreSQL, fill disks, take the model away; nothing may be lost
	$(BIN)/python -m tests.chaos --scale $(or $(SCALE),small) $(if $(SEED),--seed $(SEED))

mutations: $(DEV_STAMP)  ## carry out hand-made faults on a copy of the tree, and name the test that notices each
	$(BIN)/python -m tests.mutations

bench-ratings: $(DEV_STAMP)  ## ratings side by side with other libraries, in one run
	$(BIN)/python -m benchmarks.ratings

bench-cpu: $(DEV_STAMP)  ## processor time per battle and per stage (SCALE=full: up to 10,000 battles)
	$(BIN)/python -m benchmarks.cpu --scale $(or $(SCALE),medium)

bench-storage: $(DEV_STAMP)  ## bytes that a battle takes in the database, by table and by event
	$(BIN)/python -m benchmarks.storage

bench-llm: $(DEV_STAMP)  ## calls, tokens, money and seconds of a battle, against a simulated model
	$(BIN)/python -m benchmarks.llm

# MODEL=smol|0.5b|1.5b, BATTLES=12, PROFILES="live small"; the weights are downloaded once, 98 to 1,117 MB.
real-model: $(DEV_STAMP)  ## evaluate recorded battles with the weights of a small model, served by llama.cpp (MINUTES=50 at most)
	$(BIN)/python -m benchmarks.real_model --model $(or $(MODEL),0.5b) --battles $(or $(BATTLES),12) --profiles $(or $(PROFILES),live small) --minutes $(or $(MINUTES),50) $(if $(filter smol,$(MODEL)),--smoke)

bench-intake: $(DEV_STAMP)  ## accept 2,000 battles as NDJSON, and watch the recorder meanwhile (SCALE=small: 40)
	$(BIN)/python -m benchmarks.intake --scale $(or $(SCALE),full)

bench-retrieval: $(DEV_STAMP)  ## search among 100,000 chunks beside other libraries (SCALE=full: 1,000,000)
	$(BIN)/python -m benchmarks.retrieval --chunks $(if $(filter full,$(SCALE)),1000000 --without memory --without "pgvector exact",100000)

bench-live: $(DEV_STAMP)  ## seconds from sending to nuggets, explanation and rating at 5 battles a second (SCALE=small: 6 s)
	$(BIN)/python -m benchmarks.live --scale $(or $(SCALE),full)

bench-scraper: $(DEV_STAMP)  ## extract the text of pages beside trafilatura alone, resiliparse and selectolax
	$(BIN)/python -m benchmarks.scraper

# SCALE=small finishes in seconds; the default makes a million battles and takes some minutes.
bench-store: $(DEV_STAMP)  ## time the database side on PostgreSQL with 1M battles (SCALE=small: 1,000)
	$(BIN)/python -m benchmarks.store --scale $(or $(SCALE),full)

format: $(DEV_STAMP)  ## format the code and sort its imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proto: $(DEV_STAMP)  ## write stubs from the contracts, manifests and tables from the pipeline
	$(BIN)/python proto/generate.py
	PYTHONPATH=. $(BIN)/python deploy/generate.py

digests: $(DEV_STAMP)  ## fix the contents of images of others: make digests REGISTRY=https://...
	$(BIN)/python deploy/digests.py --registry "$(REGISTRY)"

clean:  ## remove environments, build results, caches of tools and out/; data folders stay
	rm -rf .venv .venv-checkov .venv-sbom k8s/checks/node_modules out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Python is looked for first, in words that an old one and a missing one understand.
NEEDS_PYTHON := Python 3.11 or newer is needed: install it, or name it by make PYTHON=/path/to/python3.11
.PHONY: python
python:
	@test -n "$(PYTHON)" || { echo "$(NEEDS_PYTHON)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(NEEDS_PYTHON)")'

# HASHES=1, as in CI: every package but torch must be one that deploy/requirements/ci.txt has the hash of.
ifdef HASHES
INSTALL = $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
$(STAMP) $(DEV_STAMP) &: pyproject.toml constraints.txt deploy/requirements/ci.txt | python
	@"$(PYTHON)" -m venv $(VENV)
	@$(INSTALL) --require-hashes --no-deps --requirement deploy/requirements/ci.txt
	@$(INSTALL) --constraint constraints.txt torch
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.installed $(VENV)/.installed-torch $(DEV_STAMP)
else
INSTALL = "$(PYTHON)" deploy/environment.py $(VENV)
$(STAMP): pyproject.toml constraints.txt | python
	@$(INSTALL) $(if $(TORCH),2100,700) --no-compile --constraint constraints.txt --editable '.[light$(if $(TORCH),$(comma)dense)]'
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt | python
	@$(INSTALL) 3500 --constraint constraints.txt --editable '.[all,dev,docs]'
	@touch $(VENV)/.installed $(VENV)/.installed-torch $@
endif
