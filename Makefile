# Two commands after a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup

.PHONY: demo docs test check bench lock clean

demo: $(SETUP)
	$(BIN)/incrowd demo-data --rows 100000 --out out/demo.parquet --force
	$(BIN)/incrowd profile out/demo.parquet
	$(BIN)/incrowd measure out/demo.parquet \
	  --qi oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,adm_qtr --sensitive charge \
	  --groups census=age_yrs,sex,ethncty,race,patzip,patcnty spatial=oshpd_id temporal=los,adm_qtr
	$(BIN)/incrowd assess out/demo.parquet --qi age_yrs,sex,race,patcnty --sensitive charge \
	  --population 3985166 --recipient public --html out/report.html --force

test: $(SETUP) .browser check
	$(BIN)/pytest -n 2 --dist worksteal

check: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(SETUP)
	$(BIN)/python -m benchmarks

# pinned versions; made on Python 3.11, good on every later one
$(SETUP): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv --clear $(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(SETUP)

# the report is tested in a browser; where none can be installed those tests are skipped, and say so
.browser:
	command -v chromium > /dev/null || command -v google-chrome > /dev/null \
	  || (command -v apt-get > /dev/null && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) \
	  || echo "no Chromium and no way to install it: the tests of the report in a browser are skipped"
	touch .browser

docs: $(SETUP)
	$(BIN)/mkdocs build --strict --quiet

lock: $(SETUP)
	$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager -e '.[dev,docs]'
	$(BIN)/python -m pip freeze --exclude-editable > requirements.lock

clean:
	rm -rf $(VENV) .browser out site .pytest_cache .mypy_cache .ruff_cache
