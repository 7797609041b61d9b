# Two commands: `make demo` shows the laboratory at work, `make test` proves that it works.
# Both create .venv at the root and need nothing but Python 3.11 or later and make.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/.installed
	$(BIN)/warploom inspect reduction
	$(BIN)/warploom compare --workloads vectoradd,matrixmul,reduction,bfs --size tiny --designs baseline,oracle

test: $(VENV)/.installed lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache
