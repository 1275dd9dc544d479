# Thin: every target is one step script in the standard library. `make demo` needs Python 3.11+, make and venv alone.
PYTHON ?= python3
STEPS := $(PYTHON) .ci/steps.py

.PHONY: help demo lab class wheel docs reference check test soak bench clean
.DEFAULT_GOAL := help

help:   ## list the targets
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' $(MAKEFILE_LIST)

demo:   ## run the tour; leaves build-demo/00-tour.ipynb and demo.html
	@$(STEPS) demo

lab:    ## open the tour in JupyterLab; with Node.js, build the front end and rebuild it on every change
	@$(STEPS) lab

class:  ## start a small class on this machine: a JupyterHub, its proxy and a curator; stop it with Ctrl+C
	@$(STEPS) class

wheel:  ## build a wheel with the front end into dist, for machines without Node.js
	@$(STEPS) wheel

docs:   ## build the site into build-docs/html, without network; interactions are live if Node.js is installed
	@$(STEPS) docs $(ARGS)

reference: ## write the generated pages of docs/reference, the lines that docs/guarantee.md links to and the counts of SECURITY.md
	@$(STEPS) reference

check:  ## run the formatter, linter, spell checker, type checker, import rules and quick tests of dpnb/trusted; under a minute, before a commit
	@$(STEPS) check

test:   ## run the full test suite, under every installed Python 3.11-3.13
	@$(STEPS) test $(ARGS)

soak:   ## run the long law, fault and fuzz tests
	@$(STEPS) soak $(ARGS)

bench:  ## compare dpnb with other libraries and write docs/benchmarks.md. Times take 45 minutes (ARGS="timing page"), errors hours (ARGS="accuracy page --only dpnb")
	@$(STEPS) bench $(ARGS)

clean:  ## remove what the other targets made
	@$(STEPS) clean
