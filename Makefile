# SPDX-License-Identifier: Apache-2.0
# `make help` lists the targets. Every target can be run alone and runs what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export KVDEV_CACHE ?= $(HOME)/.cache/kvpool
export KUBE_API_TEST_DIR ?= $(KVDEV_CACHE)/kubeapitest
JOBS ?= $(shell nproc)
MVN = JAVA_HOME="$$(.ci/java-home)" mvn -B -ntp
CLUSTER = e2e/cluster/cluster

##@ The two commands
.PHONY: demo test
demo: ## A pool on a local Kubernetes: build, install by Helm, put, kill the leader, get
	.ci/prerequisites --install
	$(CLUSTER) prerequisites --install
	e2e/demo

test: ## Everything: unit, sanitizers, Python, Helm, operator on a real API server, e2e
	.ci/test all

##@ Every day
.PHONY: build check format bench dist dist-arm64 docs
build: ## Compile everything and make the local distribution (no tests)
	$(MVN) -q -DskipTests package
	native/python/build-wheels dist/wheels

check: ## All tests but e2e
	.ci/test quick

format: ## Put Java, C++ and Python sources in the project's format
	$(MVN) -q spotless:apply
	git ls-files 'native/*.h' 'native/*.cc' 'native/*.c' 'native/*.cpp' | xargs -r clang-format -i

bench: ## Measure speed; prints ratios to a raw stream measured in the same run. WHAT=scaling, failover, cold-start, ssd, tls, index, hit-rate, crossing, operator-scale or operator-start
	.ci/bench $(or $(WHAT),speed) $(ARGS)

dist: ## Leave dist/bin, dist/lib, dist/plugin, dist/wheels, dist/charts, dist/images
	.ci/dist

dist-arm64: ## Cross-compiled for arm64: dist/arm64, and dist/images for both machine types
	.ci/dist --arm64

docs: ## Write the generated pages of docs/reference
	$(MVN) -q -pl crds,identity,native,data-plane,operator -am test -Dtest='*AreDocumentedTest' -Dsurefire.failIfNoSpecifiedTests=false -Ddocs.update=true
	cd native/python/tests/unit && DOCS_UPDATE=1 python3 -c 'import test_api_page; test_api_page.test_the_page_is_current()'
	cd native/python/tests/unit && python3 -c 'import mooncake_conformance; mooncake_conformance.write()'
	cd native/python/tests/unit && PYTHONPATH=../../mooncake/src python3 -c 'import mooncake_flags_page; mooncake_flags_page.write()'

##@ Parts of the tests
.PHONY: lint native-test native-sanitize java-test plugin-test test-arm64 python-test engines-test helm-test e2e fuzz sim sim-mutants chaos soak
lint: ## Formatting, clang-tidy, shellcheck, the project's own rules
	.ci/test lint
native-test: ## libkvpool, release build
	.ci/test native
native-sanitize: ## libkvpool under ASan+UBSan and TSan
	.ci/test native-asan native-tsan
java-test: apiserver ## crds, identity, native binding, data plane, operator (real API server)
	.ci/test java
plugin-test: ## The archive of kubectl kvpool
	.ci/test plugin
test-arm64: ## What make dist-arm64 left, under qemu; STEPS="native wheel" for some of it
	e2e/arm64/test $(STEPS)
python-test: ## Wheels against a real pool
	.ci/test python
engines-test: ## Engines' own connector code against a real pool
	.ci/test engines
helm-test: ## Chart and manifests
	.ci/test helm
e2e: ## Black-box scenarios on a local cluster
	.ci/test e2e
sim: ## A pool of production cores in simulated time, under faults; SEEDS=1000
	$(MVN) -q -pl native,data-plane -am test -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dkvpool.sim.seeds=$(or $(SEEDS),1000) -Dkvpool.sim.threads=$$(nproc)
sim-mutants: ## Bugs planted one at a time: which check of the simulation finds each; ARGS="NAME..."
	$(MVN) -q -pl native,data-plane -am test-compile dependency:build-classpath -Dmdep.outputFile=target/sim-classpath
	data-plane/sim-mutants $(ARGS)
fuzz: ## libFuzzer on every target; MINUTES=1 each
	.ci/fuzz $(or $(MINUTES),1)
chaos: ## Faults on the processes of a local pool under load; MINUTES=5, ARGS="--seed N" (e2e/chaos/run --help)
	.ci/dist bin wheels
	e2e/chaos/run --minutes $(or $(MINUTES),5) $(ARGS)
soak: ## Simulation, mutants, chaos, fuzzers and events for MINUTES=60 in all, and one table; ARGS="PART..." for some of them
	python3 .ci/soak.py $(or $(MINUTES),60) $(ARGS)

##@ A local cluster
.PHONY: cluster-up cluster-down cluster-image apiserver
cluster-image: ## Build (or find) the image of the local Kubernetes
	$(CLUSTER) image
cluster-up: ## Start a local Kubernetes; prints the KUBECONFIG to use
	$(CLUSTER) up
cluster-down: ## Stop it
	$(CLUSTER) down
apiserver: ## kube-apiserver and etcd for the operator's tests
	$(CLUSTER) apiserver-binaries "$(KUBE_API_TEST_DIR)"

##@ Other
.PHONY: prerequisites clean help
prerequisites: ## Install what is missing (Debian, root), else say what to install
	.ci/prerequisites --install

clean: ## Remove what builds made (not the caches in KVDEV_CACHE)
	rm -rf dist .run {crds,identity,native,data-plane,operator,e2e}/target native/build native/python/target

help: ## This list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
