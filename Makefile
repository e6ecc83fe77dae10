# One command each, from a fresh clone, on a machine with Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
LOWEST_PYTHON ?= python3.11
LOWEST := .venv-lowest

.PHONY: demo test quick-tests test-full test-lowest bench docs lint clean

demo: $(VENV)/installed
	$(BIN)/bagwise demo

test: $(VENV)/installed-test
	$(MAKE) --no-print-directory --jobs=2 lint quick-tests

# three processes for two cores: some tests wait for a browser or another process
quick-tests: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not full"

test-full: $(VENV)/installed-test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal --junitxml build/test-full.xml; \
	ended=$$?; $(BIN)/python benchmarks/fault_log.py build/test-full.xml; exit $$ended

# Deprecation warnings are expected: old releases of the dependencies meet new releases of their own dependencies.
test-lowest: $(LOWEST)/installed
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not full" -W ignore::DeprecationWarning -W ignore::FutureWarning

bench: $(VENV)/installed-test
	$(BIN)/bagwise bench all

docs: $(VENV)/installed-test
	$(BIN)/python -m mkdocs build --strict

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[fast,viewer]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) -e '.[test]'
	touch $@

$(LOWEST)/installed: pyproject.toml constraints.txt tools/lowest_versions.py
	$(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tools/lowest_versions.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/lowest.txt -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
