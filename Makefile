# Two commands do everything on a fresh clone: `make run` and `make test`. They need Python 3.11 to 3.13, make and PyPI.
# .ci/find_python chooses the interpreter; PYTHON=python3.12 names one.
BIN := .venv/bin
READY := .venv/.ready
SLURM_STATE ?= /tmp/slurm-ludus

# A small machine: one thread for each process. The league's own processes set this for themselves.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

# Without compiled modules every process of a league, and every worker of the tests, compiles all of Ludus when it starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test slow slurm browser check docs bench reliability format clean

run: $(READY)  ## A Connect Four league of three minutes. ARGS="name=second seed=2" changes the config.
	@$(BIN)/ludus run $(ARGS)

test: $(READY)  ## All tests that take seconds.
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not slurm and not browser" $(ARGS)

slow: $(READY)  ## The tests that take longer: real processes, kill -9, simulated days. Leagues run one at a time, alone.
	@code=0; \
	$(BIN)/python -m pytest -m "slow and league" $(ARGS) || [ $$? = 5 ] || code=1; \
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "slow and not league" $(ARGS) || [ $$? = 5 ] || code=1; \
	exit $$code  # 5: ARGS chose none of these

slurm: $(READY)  ## The tests on a real Slurm of four nodes, started on this machine: as root, on Debian or Ubuntu.
	@tests/slurm/cluster/start $(SLURM_STATE) --clean
	@LUDUS_SLURM=$(SLURM_STATE) $(BIN)/python -m pytest -m slurm $(ARGS); code=$$?; \
		tests/slurm/cluster/stop $(SLURM_STATE); exit $$code

browser: $(READY)  ## The tests of the dashboard in a real browser: chromium, which root gets from Debian or Ubuntu.
	@tests/browser/get_chromium
	@$(BIN)/python -m pytest -m browser $(ARGS)

check: $(READY)  ## Format, lint, layers, types.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy

docs: .venv/.docs  ## The docs site in build/site, from docs/; broken links are errors. SOURCE=https://... links to source files.
	@$(BIN)/python .ci/site_pages.py
	@$(BIN)/zensical build --strict --clean

bench: $(READY)  ## Speed, as JSON lines; docs/performance.md says how to read them.
	@$(BIN)/python -m benchmarks $(ARGS)

reliability: $(READY)  ## Run the tests that docs/reliability.md names, and write their figures into it.
	@rm -f build/figures.jsonl; mkdir -p build
	@LUDUS_FIGURES=build/figures.jsonl $(BIN)/python -m pytest $$($(BIN)/python -m benchmarks.reliability --tests)
	@$(BIN)/python -m benchmarks.reliability build/figures.jsonl

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

$(READY): pyproject.toml constraints.txt
	@python=$$(sh .ci/find_python $(PYTHON)) && $$python -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

.venv/.docs: $(READY)  # apart from $(READY): only `make docs` needs the site generator
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
