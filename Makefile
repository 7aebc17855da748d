# Two commands after a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
SETUP := $(VENV)/.setup
# modules are compiled when they are first imported: most never are
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile
# compiled modules are kept: else every process that a test starts compiles the package anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs test tests check bench papers fuzz floors sbom lock clean

demo: $(BASE)
	$(BIN)/incrowd demo-data --rows 100000 --out out/demo.parquet --force
	$(BIN)/incrowd profile out/demo.parquet
	$(BIN)/incrowd measure out/demo.parquet \
	  --qi oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,adm_qtr --sensitive charge \
	  --groups census=age_yrs,sex,ethncty,race,patzip,patcnty spatial=oshpd_id temporal=los,adm_qtr
	$(BIN)/incrowd assess out/demo.parquet --qi age_yrs,sex,race,patcnty --sensitive charge \
	  --population 3985166 --recipient public --html out/report.html --force || [ $$? -eq 1 ]  # 1 is a decision too

# side by side: Python's packages and the other tools, then the types and the tests
test:
	$(MAKE) --jobs 2 check tests

tests: $(SETUP) .tools
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist loadgroup  # one more than the cores, for tests that wait; each takes 10 s to start

check: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(SETUP)
	$(BIN)/python -m benchmarks

papers: $(SETUP)
	$(BIN)/python -m papers all --out out/papers $(if $(INCROWD_DATA),--data $(INCROWD_DATA),--quick)

# hours of mutated files, every fault at every step, many random calls, 400 random tables a protection method; what breaks a promise is kept in out/fuzz
fuzz: $(SETUP)
	$(BIN)/python -m tests.fuzz.run --seconds $(or $(SECONDS),3600) --corpus out/fuzz
	$(BIN)/python -m tests.fuzz.faults
	$(BIN)/python -m tests.fuzz.releases --tables 2000
	$(BIN)/python -m tests.fuzz.app
	$(BIN)/python -m tests.fuzz.memory
	INCROWD_CALLS=20000 $(BIN)/pytest -q tests/fuzz/test_calls.py
	INCROWD_TABLES=400 $(BIN)/pytest -q tests/protection tests/populations/test_bounds.py tests/populations/test_crowd_estimator.py \
	  tests/decision/test_order_of_rows.py
	$(BIN)/python -m tests.fuzz.soak --quick --seconds $(or $(SECONDS),3600)

# the oldest versions that pyproject.toml allows, in an environment of their own
floors: $(SETUP)
	$(PYTHON) -m venv --clear out/floors
	sed -n '/^dependencies = \[/,/^\]/s/^ *"\(.*\)>=\(.*\)",/\1==\2/p' pyproject.toml > out/floors.txt
	out/floors/bin/python -m pip install --quiet -r out/floors.txt
	out/floors/bin/python -m pip install --quiet --no-deps -e .
	out/floors/bin/incrowd demo-data --rows 2000 --out out/floors.parquet --force
	out/floors/bin/incrowd measure out/floors.parquet --qi age_yrs,sex,race,patcnty --sensitive charge
	out/floors/bin/incrowd protect out/floors.parquet --qi age_yrs,sex,race,patcnty --k 5 --out out/floors-safe.csv --force
	sed -n '/^stats = \[/s/.*\[\(.*\)\]/\1/p' pyproject.toml | tr -d '",' | tr ' ' '\n' | sed 's/>=/==/' > out/floors-stats.txt
	out/floors/bin/python -m pip install --quiet -r out/floors-stats.txt hypothesis mpmath openpyxl polars pytest pytest-xdist
	out/floors/bin/python -m pytest -q -n 2 --dist loadgroup -p no:cacheprovider -W ignore::DeprecationWarning \
	  tests/tables tests/measures tests/protection/test_release.py

sbom: $(SETUP)
	mkdir -p out
	$(BIN)/python requirements/sbom.py > out/sbom.json

# The locks pin every package and the hashes of its files: so parts are installed side by side, the large ones (late in the
# alphabet) first, and a second call installs what failed. Made on Python 3.11, valid on every later one. What has to be built
# first is built by the tools of build.lock, and not compressed for the moment until it is unpacked: PySpark is 480 MB of archives.
BUILT := --no-deps --no-build-isolation --config-settings=--build-option=--compression=stored
install_lock = rm -rf $(VENV)/parts && mkdir $(VENV)/parts && sort -rf $(1) | split -l 18 - $(VENV)/parts/ && \
	  ls -d $(VENV)/parts/* | xargs -P 2 -n 1 $(PIP) $(BUILT) -r || $(PIP) $(BUILT) -r $(1)

# what the package itself needs, with figures
$(BASE): pyproject.toml requirements/build.lock requirements/base.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv --clear $(VENV))
	$(PIP) --no-deps -r requirements/build.lock
	$(call install_lock,requirements/base.lock)
	$(PIP) --no-deps --no-build-isolation -e .
	touch $(BASE)

# what tests, checks and documentation need besides
$(SETUP): $(BASE) requirements/dev.lock
	$(call install_lock,requirements/dev.lock)
	touch $(SETUP)

# what the tests use besides Python; where one cannot be installed its tests are skipped, and say so
.tools:
	command -v chromium-headless-shell > /dev/null || command -v google-chrome > /dev/null || $(call install,chromium-headless-shell)
	command -v java > /dev/null || $(call install,openjdk-17-jre-headless)
	test -x "$$(ls -d /usr/lib/postgresql/*/bin/postgres 2> /dev/null | tail -1)" || $(call install,postgresql)
	test -f .tools-npm/node_modules/axe-core/axe.min.js || npm install --silent --no-fund --no-audit --prefix .tools-npm axe-core@4 \
	  || echo "no axe-core and no way to install it: the accessibility check of the app is skipped"
	touch .tools

install = ((command -v apt-get > /dev/null && apt-get update -qq && apt-get install -y -qq --no-install-recommends $(1)) \
	  || echo "no $(1) and no way to install it: its tests are skipped")

docs: $(SETUP)
	$(BIN)/mkdocs build --strict --quiet

# newest versions: those of the package alone first, then the rest beside them
lock: $(SETUP)
	rm -rf out/lock && $(PYTHON) -m venv out/lock
	out/lock/bin/python -m pip install --quiet .
	out/lock/bin/python -m pip freeze --exclude incrowd > requirements/base.lock
	$(PIP) --upgrade --upgrade-strategy eager -c requirements/base.lock -e '.[dev,docs,spark,database,web]'
	$(BIN)/python -m pip freeze --exclude-editable | grep -vixFf requirements/base.lock > requirements/dev.lock
	rm -rf out/lock && $(PYTHON) -m venv out/lock
	out/lock/bin/python -m pip install --quiet --upgrade -c requirements/base.lock editables hatchling setuptools wheel
	out/lock/bin/python -m pip freeze --all --exclude pip > requirements/build.lock
	$(BIN)/python requirements/hashes.py requirements/build.lock requirements/base.lock requirements/dev.lock
	rm -rf out/lock

clean:
	rm -rf $(VENV) .tools .tools-npm out site .pytest_cache .mypy_cache .ruff_cache
