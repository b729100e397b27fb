# make demo needs python3 (3.11 or later) and nothing else; the rest installs the developers' tools.

PYTHON ?= python3
VENV ?= .venv
OUT ?= out
PYTEST_ARGS ?=
# of make test: how many examples property tests try (quick, ci, thorough: tests/profiles.py)
PROFILE ?= quick
# of make attack: how many cases, and the number of the first
CASES ?= 1000
SEED ?= 1
# of make mutants: modules below src/diskret, as rules/p_percent, or folders; how many faults of each
MODULE ?= rules
SAMPLE ?=
# of make snapshots: the code to compare with, and parts of names of cases; left out: all
BEFORE ?= HEAD
KINDS ?=
# of make everywhere: interpreters that have what diskret needs
PYTHONS ?= $(VENV)/bin/python
# of make bundle: where to, and what is installed beside the base
BUNDLE ?= dist/bundle
EXTRAS ?=

# marks of tests that need a program beside Python
PROGRAMS := spark or office or browser

# many a test starts a process, which would compile every module again
export PYTHONDONTWRITEBYTECODE =

BIN := $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadgroup --hypothesis-profile=$(PROFILE) $(PYTEST_ARGS)
# modules are compiled when they are first imported: most of what is installed never is
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: help demo test test-long test-reference test-programs test-most test-all test-r test-sdmx snapshots everywhere attack mutants bench bundle count lint types docs clean

help:
	@echo "make demo      protect an artificial business register, prove it, write $(OUT)/"
	@echo "make test      unit tests, property tests and examples: all that a checkout needs"
	@echo "make test-long those that take longer (CI runs them, too)"
	@echo "make test-reference  those that compare with data beside the checkout"
	@echo "make test-programs   those that need Java (for Spark), LibreOffice or Chromium"
	@echo "make test-most all four in one go, as CI does (with reference data if DISKRET_REFERENCE_DATA is set)"
	@echo "make test-r    those of the R package in rdiskret/, by R CMD check"
	@echo "make test-sdmx reads SDMX-CSV with pysdmx, in an environment of its own"
	@echo "make test-all  all of these with many more examples, and the slow tests"
	@echo "make attack    release random statistics and attack them from their records"
	@echo "               (CASES=$(CASES) SEED=$(SEED); done once, a case is not repeated;"
	@echo "               PROCESSES=: how many at once, as many as processors if nothing is said)"
	@echo "make mutants   put faults into MODULE=$(MODULE) and name those that no test finds"
	@echo "               (SAMPLE=: at most so many a module; TESTS=: files of tests; hours for a folder)"
	@echo "make snapshots releases of every kind, by the code of BEFORE=$(BEFORE) and by this one, compared"
	@echo "make everywhere  the same by each of PYTHONS, with one thread and with sixteen, compared"
	@echo "make bench     measure speed and memory"
	@echo "make bundle    what installs diskret without network, in $(BUNDLE)/"
	@echo "               (EXTRAS=excel,stat; PLATFORM=win_amd64 and FOR=3.12: for another system)"
	@echo "make count     files, lines, code and circles of the package"
	@echo "make lint      style"
	@echo "make types     types"
	@echo "make docs      build the documentation in site/"
	@echo "make clean     remove what was built (not $(VENV))"

demo: $(VENV)/.installed
	$(BIN)/diskret demo --folder "$(OUT)"

# tests run in two processes; more threads in each would wait for one another
test test-long test-reference test-programs test-most test-all: export OMP_NUM_THREADS ?= 1
test test-long test-reference test-programs test-most test-all: export OPENBLAS_NUM_THREADS ?= 1

test: $(VENV)/.installed-dev
	$(PYTEST)

test-long: $(VENV)/.installed-dev
	$(PYTEST) -m "long and not slow and not ($(PROGRAMS)) and not reference"

test-reference: $(VENV)/.installed-dev
	$(PYTEST) -m "reference and not slow and not spark"

test-programs: $(VENV)/.installed-dev
	$(PYTEST) -m "($(PROGRAMS)) and not slow"

# what is collected once need not be collected four times, and nobody waits while Spark computes
test-most: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow$(if $(DISKRET_REFERENCE_DATA),, and not reference)"

test-all: PROFILE = thorough
test-all: $(VENV)/.installed-dev
	$(PYTEST) -m ""

# R keeps what it builds out of the checkout; vignettes and the manual would need LaTeX
test-r: $(VENV)/.installed
	@if ! command -v R >/dev/null; then \
		echo "left out: R was not found (Debian, Ubuntu: apt install r-base-core)"; \
		if [ -n "$$CI" ]; then exit 1; fi; \
	else \
		set -e; bin=$$(cd "$(BIN)" && pwd); source=$$(pwd)/rdiskret; \
		data=$$(cd "$${DISKRET_REFERENCE_DATA:-../shared}" 2>/dev/null && pwd || true); built=$$(mktemp -d); \
		trap 'rm -rf "$$built"' EXIT; cd "$$built"; \
		R CMD build "$$source" >/dev/null; \
		DISKRET="$$bin/diskret" RDISKRET_REQUIRED=1 DISKRET_REFERENCE_DATA="$$data" \
			R CMD check --no-manual rdiskret_*.tar.gz \
			|| { tail -n 40 rdiskret.Rcheck/tests/*.fail 2>/dev/null; exit 1; }; \
		grep -q '^Status: OK' rdiskret.Rcheck/00check.log; \
	fi

# pysdmx wants an older pyarrow than diskret has, so it reads in an environment of its own
test-sdmx: $(VENV)/.installed $(VENV)-sdmx/.installed
	@set -e; made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
		DISKRET_KEYS="$$made/keys" $(BIN)/python tests/sdmx/release.py "$$made"; \
		$(VENV)-sdmx/bin/python tests/sdmx/read.py "$$made"

attack: $(VENV)/.installed-dev
	PYTHONPATH=src:tests $(BIN)/python -m campaign.run --cases $(CASES) --seed $(SEED) \
		--log "$(OUT)/attack.jsonl" $(if $(PROCESSES),--processes $(PROCESSES))

# more threads in each process would wait for one another
mutants: export OMP_NUM_THREADS ?= 1
mutants: export OPENBLAS_NUM_THREADS ?= 1
mutants: $(VENV)/.installed-dev
	mkdir -p "$(OUT)"
	PYTHONPATH=src:tests $(BIN)/python -m mutants.run "$(MODULE)" $(TESTS) \
		$(if $(SAMPLE),--sample $(SAMPLE)) --log "$(OUT)/mutants.jsonl"

SNAPSHOTS := $(OUT)/snapshots

snapshots: $(VENV)/.installed-dev
	rm -rf "$(SNAPSHOTS)" && mkdir -p "$(SNAPSHOTS)/source"
	git archive "$(BEFORE)" src | tar -x -C "$(SNAPSHOTS)/source"
	PYTHONPATH="$(SNAPSHOTS)/source/src:tests" $(BIN)/python -m snapshots.releases "$(SNAPSHOTS)/before" $(KINDS)
	PYTHONPATH=src:tests $(BIN)/python -m snapshots.releases "$(SNAPSHOTS)/after" $(KINDS)
	PYTHONPATH=src:tests $(BIN)/python -m snapshots.compare "$(SNAPSHOTS)/before" "$(SNAPSHOTS)/after"

everywhere: $(VENV)/.installed-dev
	rm -rf "$(SNAPSHOTS)"
	PYTHONPATH=src:tests $(BIN)/python -m snapshots.everywhere "$(SNAPSHOTS)" $(PYTHONS) --kinds $(KINDS)

bench: $(VENV)/.installed-dev
	@for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; $(BIN)/python "$$script" || exit 1; \
	done

bundle: $(VENV)/.installed-dev
	$(BIN)/python distribution/bundle.py "$(BUNDLE)" --extras "$(EXTRAS)" \
		$(if $(PLATFORM),--platform $(PLATFORM)) $(if $(FOR),--python $(FOR))

count: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/count.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.installed-dev
	DISKRET_VERSION="$$($(BIN)/diskret --version)" NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@! grep -rE '<(script|img|link rel="stylesheet")[^>]*"https?://' site --include=*.html \
		|| { echo "the site must not load anything from other servers" >&2; exit 1; }

clean:
	rm -rf site build dist htmlcov .coverage .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# ── the environment: installed once, and again when pyproject.toml changes ──────────

$(VENV)/.installed: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing diskret into $(VENV) ..."
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing diskret and the developers' tools into $(VENV) ..."
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)-sdmx/.installed: | $(VENV)/pyvenv.cfg
	@echo "Installing pysdmx into $(VENV)-sdmx ..."
	@$(PYTHON) -m venv $(VENV)-sdmx
	@$(VENV)-sdmx/bin/python -m pip install --quiet --disable-pip-version-check 'pysdmx[data,xml]==1.21.0'
	@touch $@

$(VENV)/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) was not found. Install Python 3.11 or later"; \
		echo "(Debian, Ubuntu: apt install python3 python3-venv; otherwise https://www.python.org)"; \
		echo "or say which one to use: make PYTHON=/path/to/python3 ..."; \
		exit 1; } >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "diskret needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
		echo "Say which one to use: make PYTHON=/path/to/python3.11 ..."; \
		exit 1; } >&2
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments: venv or ensurepip is missing."; \
		echo "Debian, Ubuntu: apt install python3-venv"; \
		exit 1; } >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
