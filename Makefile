# make demo and make test need only Python 3.11+ and make; both build .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
HOSTS := .venv-integrations
OLDEST := .venv-oldest
TORCH := .venv-torch

.PHONY: venv demo model test check lint typecheck pytest fuzz test-integrations test-oldest test-torch faults bench figures docs clean

venv: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("dpplearn needs Python 3.11 or newer, found " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev,bench]'
	touch $(STAMP)

# A cluster of eight invented news articles, summarized with reasons; the page shows the sentences in their sources.
demo: venv
	$(BIN)/dpplearn summarize src/dpplearn/summarize/data/example --budget 100 --explain --html summary.html

# The corpora are not part of the repository: see scripts/make_model.py.
model: venv
	$(BIN)/python scripts/make_model.py

test: lint typecheck pytest

# Before each commit, in less than a minute: lint, types, layers, probabilities against the listing of all sets, a summary.
check: lint typecheck
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_layers.py tests/test_questions.py
	$(BIN)/dpplearn summarize src/dpplearn/summarize/data/example --budget 100

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: venv
	$(BIN)/mypy

# One BLAS thread per worker: two workers with two threads each only wait for one another.
pytest: venv
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

# The readers, with inputs that nobody has tried: what fails is kept in tests/fuzz/found. FUZZ_SECONDS: how long.
FUZZ_SECONDS ?= 3600
fuzz: venv
	end=$$(($$(date +%s) + $(FUZZ_SECONDS))); while test $$(date +%s) -lt $$end; do \
	  LINEAR_BYTES=1000000 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	  $(BIN)/python -m pytest -q --hypothesis-profile=fuzz tests/fuzz tests/test_linear.py || exit 1; done

# The adapters against the frameworks themselves, in a virtual environment of their own.
test-integrations: $(HOSTS)/.installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(HOSTS)/bin/python -m pytest tests/integrations

$(HOSTS)/.installed: pyproject.toml
	test -x $(HOSTS)/bin/python || $(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
	  'langchain-core>=1.0' 'llama-index-core>=0.14' 'haystack-ai>=3.0' pyarrow pytest hypothesis
	touch $(HOSTS)/.installed

# With the oldest versions that pyproject.toml declares, which warn of what came later: whole rooms, with no file left out.
# The others ask little more of a library; the page needs a browser, and the docs what draws them.
OLDEST_ROOMS := $(wildcard tests/test_*.py) $(addprefix tests/,sampling decoding learning baskets io run cli web/api)
test-oldest: $(OLDEST)/.installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_CACHE_DIR=$(OLDEST)/loops $(OLDEST)/bin/python -m pytest -n auto \
	  --dist loadfile -o filterwarnings=default $(OLDEST_ROOMS)

$(OLDEST)/.installed: pyproject.toml scripts/oldest.py
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(PYTHON) scripts/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' \
	  pytest pytest-xdist hypothesis httpx pandas mpmath --constraint $(OLDEST)/constraints.txt
	touch $(OLDEST)/.installed

# dpplearn.torch on the CPU, in a virtual environment of its own: torch brings 5 GB of CUDA's libraries, which are not kept twice.
# The import comes first, because without torch its tests are not collected.
test-torch: $(TORCH)/.installed
	$(TORCH)/bin/python -c 'import torch'
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(TORCH)/bin/python -m pytest tests/tensors src/dpplearn/torch
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(TORCH)/bin/python -m pytest tests/learning/test_likelihood.py tests/docs/test_docs.py -k torch

$(TORCH)/.installed: pyproject.toml
	test -x $(TORCH)/bin/python || $(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-compile --editable '.[torch]' \
	  pytest hypothesis matplotlib
	touch $(TORCH)/.installed

# Commands killed at random moments and run again, some minutes; the figures of docs/reliability.md.
faults: venv
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/faults.py

bench: venv
	$(BIN)/python -m benchmarks

# The pictures of docs/figures.md, the gallery and the README.
figures: venv
	$(BIN)/python scripts/docs_figures.py
	mv docs/assets/points.png docs/assets/figure1.png
	mv docs/assets/points-dark.png docs/assets/figure1-dark.png
	$(BIN)/python scripts/docs_pictures.py

# Offline; a warning (a page, link or anchor that is not there) is an error. scripts/ has our Markdown extension.
docs: venv
	PYTHONPATH=scripts $(BIN)/zensical build --clean --strict
	@echo 'site/index.html opens in any browser; its search works there, too, without a server.'

clean:
	rm -rf .venv $(HOSTS) $(OLDEST) $(TORCH) build dist site summary.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
