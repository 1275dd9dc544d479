# Thin: every target is one step script in the standard library. `make demo` needs Python 3.11+, make and venv alone.
PYTHON ?= python3
STEPS := $(PYTHON) .ci/steps.py

.PHONY: help demo lab class docs reference check test soak bench clean
.DEFAULT_GOAL := help

help:   ## what can be made
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' $(MAKEFILE_LIST)

demo:   ## run the tour; leaves build-demo/00-tour.ipynb and demo.html
	@$(STEPS) demo

lab:    ## open the tour in JupyterLab; with Node.js the front end is built, and again on every change
	@$(STEPS) lab

class:  ## a class to look at on this machine: a JupyterHub, its proxy and a curator; Ctrl+C ends it
	@$(STEPS) class

docs:   ## build the site into build-docs/html: no network, no warning; interactions drag where Node.js is there
	@$(STEPS) docs $(ARGS)

reference: ## write the pages of docs/reference that the code writes about itself
	@$(STEPS) reference

check:  ## formatter, linter, spelling, types, walls and the trusted rooms' quick tests, in under a minute: before a commit
	@$(STEPS) check

test:   ## linters, spelling, types, walls, the front end and all ordinary tests, under every Python 3.11-3.13 installed
	@$(STEPS) test $(ARGS)

soak:   ## the long versions of the law, fault and fuzz tests
	@$(STEPS) soak $(ARGS)

bench:  ## measure dpnb beside other libraries; writes docs/benchmarks.md. Times take 45 minutes (ARGS="timing page"), errors hours (ARGS="accuracy page --only dpnb")
	@$(STEPS) bench $(ARGS)

clean:  ## remove what the other targets made
	@$(STEPS) clean
