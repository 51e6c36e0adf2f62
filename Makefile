# Everything here works on a fresh machine with python3 ≥ 3.11, pip, make and gcc.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
BENCH_STAMP := .venv/.installed-bench
TEXT_STAMP := .venv/.installed-bench-text
CLUSTER_STAMP := .venv/.installed-cluster

BENCHES := bench-frontier bench-replay bench-text bench-judges bench-distill bench-evolve bench-gp bench-hunter bench-trust \
           bench-forecast bench-resume bench-refresh bench-person bench-search bench-dashboard bench-postgres bench-cluster \
           bench-crawl bench-reading bench-scale bench-scrapy bench-soak
PAPERS := reproduce-fc reproduce-ar reproduce-gp reproduce-ga reproduce-tc

.PHONY: help demo test lint unit docs wheel clean chaos chaos-cluster hostile scale-simulation bench-tarpit bench-hanging fuzz fuzz-native browser screenshots \
        sequences bench $(BENCHES) reproduce $(PAPERS) metasearch rust-peer

help:            ## This list
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

$(STAMP): pyproject.toml $(wildcard src/lycosa/*/_*.[ch])
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv …"
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(BENCH_STAMP): $(STAMP)
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	@touch $@

$(CLUSTER_STAMP): $(STAMP)
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,bench,cluster]'
	@touch $@

# One after the other: pip 23 fails when both ask for the same extra of lxml.
$(TEXT_STAMP): $(STAMP)
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,bench-text]'
	@$(BIN)/pip install --quiet --disable-pip-version-check 'readability-lxml>=0.8'
	@touch $@

demo: $(STAMP)            ## Crawl a generated web with focus and without, and compare
	@$(BIN)/lycosa demo --output demo

test: lint unit           ## Lint, types, imports, tests

lint: $(STAMP)            ## Style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# On a machine that is made for tests (CI is set) a browser is installed; on a person's, only by `make browser`.
unit: $(STAMP) $(if $(CI),browser)            ## Tests only
	$(BIN)/pytest -n 3 --dist worksteal -q

browser: $(STAMP)         ## Install chromium for the tests of the dashboard: by apt-get as root, otherwise by playwright
	@$(BIN)/python -m tests.web.browser

bench: $(BENCHES)    ## All benchmarks

chaos: $(STAMP)           ## Kill, stop and starve crawls at random moments (KILLS=1000), and check what they promise
	@cd tests && ../$(BIN)/python -m hostile.chaos --kills $(or $(KILLS),1000)

chaos-cluster: $(CLUSTER_STAMP)   ## The same for a cluster: its crawlers, driver and database sessions (KILLS=200)
	@cd tests && ../$(BIN)/python -m hostile.cluster_chaos --kills $(or $(KILLS),200)

hostile: $(BENCH_STAMP)   ## Send Lycosa and Scrapy through the suite of hostile behaviours, and write the table in docs/hostile.md
	@cd tests && ../$(BIN)/python -m hostile.suite --crawler lycosa --crawler scrapy --write

bench-tarpit: $(STAMP)    ## A tarpit beside 30 fair hosts, 20,000 fetches: what goes into it, and what the fair hosts lose
	@cd tests && ../$(BIN)/python -m hostile.tarpit

bench-hanging: $(STAMP)   ## Hosts whose pages hang their reader beside 30 fair hosts: what the fair hosts lose
	@cd tests && ../$(BIN)/python -m hostile.hanging

fuzz: $(STAMP)            ## Ten minutes of hostile input for every parser (MINUTES=10)
	@cd tests && ../$(BIN)/python -m fuzz --minutes $(or $(MINUTES),10)

fuzz-native: $(STAMP)     ## The compiled parts of reading under libFuzzer and sanitizers (RUNS=10000000); needs clang
	@cd tests && ../$(BIN)/python -m fuzz.native --runs $(or $(RUNS),10000000)

sequences: $(STAMP)       ## Compare the pages every strategy visits with the recorded ones
	@$(BIN)/python bench/sequences.py

bench-frontier: $(STAMP)  ## Cost and memory of the frontier up to ten million links
	@$(BIN)/python bench/frontier.py

bench-replay: $(STAMP)    ## Visits a second of a replayed crawl
	@$(BIN)/python bench/replay.py

bench-text: $(TEXT_STAMP) ## How well and how fast the main text of pages is extracted, next to other extractors
	@$(BIN)/python bench/text.py

bench-judges: $(STAMP)    ## How good and how fast judges are, next to scikit-learn's; and on anchors
	@$(BIN)/python bench/judges.py
	@$(BIN)/python bench/short_texts.py

bench-distill: $(STAMP)   ## Hubs and authorities of a million pages
	@$(BIN)/python bench/distill.py

bench-evolve: $(STAMP)    ## Simulated visits a second of the compiled kernel
	@$(BIN)/python bench/evolve.py

bench-refresh: $(STAMP)   ## Changes that a refresh finds, against the requests it spends
	@$(BIN)/python bench/refresh.py

bench-trust: $(STAMP)     ## Whether what a crawl says of its pages can be trusted
	@$(BIN)/python bench/trust.py

bench-hunter: $(STAMP)    ## What the hunter finds, next to the other strategies; and what it costs
	@$(BIN)/python bench/hunter.py

bench-forecast: $(STAMP)  ## Whether forecasts hold: the harvest of the next pages, and what is left
	@$(BIN)/python bench/forecast.py

bench-resume: $(STAMP)    ## What it costs to resume a crawl of 100,000 pages
	@$(BIN)/python bench/resume.py

bench-soak: $(STAMP)      ## A simulated week of crawling a faulty web: memory, descriptors, database over its course
	@$(BIN)/python bench/soak.py $(if $(VISITS),--visits $(VISITS))

bench-person: $(STAMP)    ## What ten marks of a person are worth, from topics to export, on pages served live
	@$(BIN)/python bench/person.py

bench-search: $(STAMP)    ## Full-text search over 100,000 pages, next to a scan
	@$(BIN)/python bench/search.py

bench-gp: $(STAMP)        ## What an evolved similarity costs: evidence, evolution, judging
	@$(BIN)/python bench/gp.py

bench-dashboard: $(STAMP) ## The dashboard on a crawl of 1,000,000 pages: first paint, update, memory, what it takes from a crawl
	@$(BIN)/python bench/dashboard.py

bench-postgres: $(STAMP)  ## PostgreSQL against SQLite: the same crawl, and ten million links
	@$(BIN)/python bench/postgres.py

bench-cluster: $(CLUSTER_STAMP)   ## The same crawl by one process and by clusters of 2 and 4 crawlers (RECORDED=1: real pages; NODES=2)
	@$(BIN)/python bench/cluster.py $(if $(RECORDED),--recorded) --nodes $(or $(NODES),0)

scale-simulation: $(STAMP)   ## What 10 to 1,000 crawlers would do: balance, links that travel, pages a second
	@$(BIN)/python bench/scale_simulation.py

screenshots: $(STAMP)     ## Pictures of every view of the dashboard, light and dark, wide and narrow, into docs/images/dashboard
	@$(BIN)/python -m tests.web.screenshots

reproduce: $(PAPERS)   ## All experiments of the papers

reproduce-tc: $(STAMP)    ## Paper TC on wikispeedia (QUICK=1 for a try)
	@$(BIN)/python experiments/tc.py $(if $(QUICK),--quick)

reproduce-fc: $(STAMP)    ## Paper FC on wikispeedia, debian-docs and a generated web (QUICK=1 for a try)
	@$(BIN)/python experiments/fc.py $(if $(QUICK),--quick)

reproduce-ar: $(STAMP)    ## Paper AR: formulas and tunnelling (QUICK=1 for a try)
	@$(BIN)/python experiments/ar.py $(if $(QUICK),--quick)

reproduce-gp: $(STAMP)    ## Paper GP: evolved similarity, and decay (QUICK=1 for a try, LARGE=1 for more)
	@$(BIN)/python experiments/gp.py $(if $(QUICK),--quick) $(if $(LARGE),--large)
	@$(BIN)/python experiments/gp_decay.py $(if $(QUICK),--quick)

reproduce-ga: $(STAMP)    ## Paper GA: evolved strategies (QUICK=1 for a try)
	@$(BIN)/python experiments/ga.py $(if $(QUICK),--quick)

metasearch: $(STAMP)      ## What search engines are worth to a crawl without seeds (QUICK=1 for a try)
	@$(BIN)/python experiments/metasearch.py $(if $(QUICK),--quick)

bench-crawl: $(BENCH_STAMP)          ## Pages a second, against Scrapy on the same site; against spider-rs, where it is installed
	@$(BIN)/python bench/crawl.py

# The last version that comes with a binary for Linux.
rust-peer:                ## Install spider-rs, a crawler in Rust, for bench-crawl; needs node and npm
	@npm install --silent --no-audit --no-fund --prefix out/rust-peer @spider-rs/spider-rs@0.0.157

bench-scrapy: $(BENCH_STAMP)         ## Relevant pages of a Scrapy spider, in the hunter's order and in Scrapy's own (QUICK=1 for a try)
	@$(BIN)/python bench/scrapy_scheduler.py $(if $(QUICK),--quick)

bench-reading: $(STAMP)   ## Where the time of reading a page goes, part by part
	@$(BIN)/python bench/reading.py

bench-scale: $(BENCH_STAMP)          ## A crawl of a million pages, and one of 200,000 over loopback: whether it stays as fast (QUICK=1 for a try)
	@$(BIN)/python bench/scale.py $(if $(QUICK),--quick)

wheel: $(STAMP)           ## A wheel with the compiled parts for this machine and Python, and a source distribution, into dist/
	@$(BIN)/python -c "import build" 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check build
	@rm -rf dist build
	@$(BIN)/python -m build --outdir dist >/dev/null
	@$(BIN)/python -c "import sys, zipfile; print(*sorted(n for n in zipfile.ZipFile(sys.argv[1]).namelist() if n.endswith('.so')), sep='\n')" dist/*.whl
	@ls -lh dist

docs: $(STAMP)          ## Write docs/settings.md from the code
	@$(BIN)/python docs/build.py

clean:                    ## Remove the environment and what was generated
	rm -rf .venv demo out dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .schemathesis
