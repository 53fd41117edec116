# The two commands: `make demo` shows the bridge at work, `make test` passes every test. Both install what they need, say
# what they do, and can be run again at any time.
.PHONY: demo test build extension docs bench fuzz help clean
.DEFAULT_GOAL := help
# Where cargo puts what it builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## Drives a real Chromium through the bridge, step by step, and leaves a picture
	@.ci/need rust node cc chromium
	@.ci/stage "extension" .ci/extension
	@.ci/stage "release build of bridged" cargo build --release --locked -p bridged -p bridge
	@$(TARGET)/release/bridged demo

test: ## Every test, lint and check of the project
	@.ci/test

build: ## The release binaries, with the extension inside
	@.ci/need rust node cc
	@.ci/stage "extension" .ci/extension
	@.ci/stage "release build of bridged" cargo build --release --locked -p bridged -p bridge

extension: ## The unpacked extension in extension/dist
	@.ci/stage "extension" .ci/extension

docs: ## Writes docs/methods from the catalogue
	@cargo run -q -p bridge-catalogue --example docs

bench: ## The daemon beside a bare relay, judged by ratio, and the core's instruction counts (needs valgrind)
	@.ci/need cc valgrind
	@core/benches/compare.sh --limit 3
	@cargo build --release --locked --quiet -p bridged -p bridge-bench
	@$(TARGET)/release/bridge-bench $(TARGET)/release/bridged

fuzz: ## Ten minutes of each fuzz target
	@.ci/need fuzz
	@.ci/fuzz 600

clean: ## Removes what was built
	cargo clean
	rm -rf extension/dist extension/node_modules fuzz/target core/no-std-probe/target
