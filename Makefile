# One command each, from a fresh clone, on a machine with Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-full bench docs lint clean

demo: $(VENV)/installed
	$(BIN)/bagwise demo

test: $(VENV)/installed-test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not full"

test-full: $(VENV)/installed-test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal --junitxml build/test-full.xml; \
	ended=$$?; $(BIN)/python benchmarks/fault_log.py build/test-full.xml; exit $$ended

bench: $(VENV)/installed-test
	$(BIN)/bagwise bench all

docs: $(VENV)/installed-test
	$(BIN)/python -m mkdocs build --strict

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[fast,viewer]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
