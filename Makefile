# Two commands: `make demo` shows the laboratory at work, `make test` proves that it works.
# Both create .venv at the root and need nothing but Python 3.11 or later and make.

PYTHON ?= python3
VENV   := .venv
OLDEST := build/oldest-numba
BIN    := $(VENV)/bin

.PHONY: demo test quick lint browser verify fuzz docs clean

# Five published designs and one combination of them against the baseline: a table here, a page in results/demo.
demo: $(VENV)/.usable
	$(BIN)/warploom report --workloads hotspot,matrixmul,bfs,lib --size small \
	  --designs baseline,rfc,warped-rf,compression,rfv,regmutex,oracle --no-combinations \
	  --design 'rfv + warped-rf + power=trimodal' --results results/demo --out results/demo/report.html

test: $(VENV)/.installed $(OLDEST) lint browser
	$(BIN)/pytest -n 2 --dist worksteal

# Style, types and the unit tests: what to run after each edit.
quick: $(VENV)/.installed lint
	$(BIN)/pytest -n 2 --dist worksteal -m unit

# Every workload against its reference in the sizes that the tests do not run, the wide sweeps of designs, programs with Triton,
# numba-cuda and PyTorch (7 GB to install), and the core with every array index checked.
verify: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[today,torch]'
	$(BIN)/warploom run all --size small --emulate-only
	$(BIN)/warploom run all --size paper --emulate-only
	$(BIN)/pytest -n 2 --dist worksteal -m slow
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 --dist worksteal tests/chip

# Spoilt inputs of every kind that Warploom reads, from the seed: no traceback, hang, crash or silent difference. What was found is
# kept in build/fuzz; `warploom-lab fuzz --help` says how to try one input again.
FUZZ_INPUTS  ?= 100000
FUZZ_SECONDS ?= 1800
FUZZ_SEED    ?= 1
fuzz: $(VENV)/.installed
	$(BIN)/warploom-lab fuzz --inputs $(FUZZ_INPUTS) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) --jobs 2

# The manual as a site in build/site, without a network; a link that leads nowhere is an error. To read it:
# python -m http.server --directory build/site
docs: $(VENV)/.installed
	$(BIN)/mkdocs build --strict

# One test looks at the report in Chromium; without it that test is skipped and says so.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get install -y -qq chromium >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; }; } || \
	  echo "no Chromium here: the browser test will be skipped"

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What a user installs; the tests add their tools to it.
$(VENV)/.usable: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[cuda,report,workloads,sass,looking]'
	touch $@

$(VENV)/.installed: $(VENV)/.usable
	$(BIN)/pip install --quiet --editable '.[test]' --editable lab
	touch $@

# The oldest Numba that pyproject.toml allows, beside the newest in .venv: one test puts it in front. A folder instead of an
# environment of its own, because nothing else needs to be there twice.
$(OLDEST): pyproject.toml $(VENV)/.usable
	rm -rf $@
	$(BIN)/pip install --quiet --target $@ 'numba==0.62.0'

clean:
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache
