# The commands of this project; `make help` lists them. CMake and Ninja do the work (CMakePresets.json).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export JOBS

.DEFAULT_GOAL := all
.PHONY: all help setup oracle demo test check nightly bare bench fuzz install format tidy clean

all: ## build the CLI at build/release/bin/frazil (installs missing packages first)
	@scripts/build.sh release product

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install missing packages and the wasmtime library, nothing else
	@scripts/setup.sh

oracle: ## build the real Triton VM as fast as it proves (Rust; ten minutes, once; tests build a quick one)
	@scripts/setup.sh && scripts/oracle.sh build/release/bin/frazil-oracle release

demo: all ## show the product: a sentence answered, a program through every stage, every target
	@scripts/oracle.sh build/release/bin/frazil-oracle || echo "demo: goes on without the prover"
	@scripts/demo.sh

test: ## build and pass every test; under ASan+UBSan or TSan, in turns, those of changed folders and a quarter of the rest
	@scripts/setup.sh && scripts/test.py

check: ## the tests of what changed since BASE (default: what is not upstream yet), in minutes
	@scripts/setup.sh && BASE="$(BASE)" scripts/test.py --check

nightly: ## all there is; SLICE=dev|tsan|gcc|counts|remote|fuzz: one part of it
	@scripts/setup.sh && scripts/test.py --nightly $(or $(SLICE),all)

bare: ## the two commands on a bare Debian 12 in a folder of its own (as root; 45 minutes); COMMAND="make help": another one
	@scripts/bare-machine.sh $(if $(COMMAND),'$(COMMAND)')

bench: ## measure; prints tables, writes build/bench/results.json; CORPUS=dir: also against the hand-written assembly there
	@CORPUS="$(CORPUS)" scripts/bench.sh

fuzz: ## run every fuzz target for FUZZ_SECONDS (default 60) each
	@scripts/fuzz.sh

install: all ## install to PREFIX (default /usr/local), staged under DESTDIR if set
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)" >build/release/install.log
	@echo "installed: $(DESTDIR)$(PREFIX)"

format: ## format every C++ file in place
	@git ls-files -z '*.cpp' '*.h' | xargs -0 clang-format-22 -i

tidy: ## run clang-tidy over the libraries (needs the package clang-tidy-22)
	@scripts/tidy.sh

clean: ## remove the build folder (downloads in .cache stay)
	@rm -rf build
