# The commands of the project; CMake does the work. BUILD is the build folder.
BUILD ?= build
JOBS ?= $(shell nproc)
# One more than CPUs, because tests wait for disks and for each other.
TESTS_AT_A_TIME ?= $(shell expr $(JOBS) + 1)
PREFIX ?= /usr/local
# ON halves the time of a first build. OFF makes rebuilds faster.
UNITY ?= ON
# 0 builds without LLVM 19 and without --executor compiled.
LLVM ?= 1
export LLVM
LLVM_OPTION = -DHONE_LLVM=$(if $(filter 0,$(LLVM)),OFF,ON)

.PHONY: build demo install test test-long bench asan tsan fuzz format lint docs clean

# Installs the packages for a purpose; see tools/install-dependencies.
packages-to-%:
	@tools/install-dependencies $*

build: packages-to-run
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_UNITY=$(UNITY) $(LLVM_OPTION) -DHONE_TESTS=OFF > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target hone

# Trains a small model on built-in data and shrinks it. Exit code 3 of shrink is a result: the limit was not shown to hold.
DEMO_DATA = 'synth:tail?seed=7&n=60000'

demo: build
	$(BUILD)/bin/hone train tiny --data $(DEMO_DATA) --validation_split 0.2 --epochs 1 --batch_size 32 --lr 5e-4 --overwrite -o demo/model
	$(BUILD)/bin/hone shrink demo/model --data $(DEMO_DATA) --overwrite -o demo/small || [ $$? -eq 3 ]

# Installs the program, its manual page and the completions of bash, zsh and fish; headers, libraries and CMake package.
install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

test: packages-to-test
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_UNITY=$(UNITY) $(LLVM_OPTION) -DHONE_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) -L fast -j $(TESTS_AT_A_TIME) --output-on-failure

test-long: test
	ctest --test-dir $(BUILD) -L long --output-on-failure

bench: packages-to-bench
	@cmake -S . -B $(BUILD)-bench -G Ninja -DHONE_BENCH=ON -DHONE_TESTS=OFF $(LLVM_OPTION) > /dev/null
	@cmake --build $(BUILD)-bench -j $(JOBS) --target kernels_bench formats_bench
	$(BUILD)-bench/bench/kernels_bench
	$(BUILD)-bench/bench/formats_bench

# Runs the tests with the address and undefined-behaviour sanitizers.
asan: packages-to-test
	@cmake -S . -B $(BUILD)-asan -G Ninja -DHONE_UNITY=$(UNITY) $(LLVM_OPTION) -DHONE_SANITIZE=address > /dev/null
	@cmake --build $(BUILD)-asan -j $(JOBS)
	ctest --test-dir $(BUILD)-asan -L fast -j $(TESTS_AT_A_TIME) --output-on-failure

# Tests the thread pool with the thread sanitizer.
tsan: packages-to-test
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DHONE_SANITIZE=thread $(LLVM_OPTION) > /dev/null
	@cmake --build $(BUILD)-tsan -j $(JOBS) --target base_test
	$(BUILD)-tsan/tests/base/base_test --gtest_filter='ThreadPool*'

# Runs every fuzzer for FUZZ_SECONDS (60). See tools/fuzz for longer runs of some.
fuzz: packages-to-fuzz
	@cmake -S . -B $(BUILD)-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DHONE_FUZZ=ON \
	  -DHONE_TESTS=OFF -DHONE_SANITIZE=address $(LLVM_OPTION) > /dev/null
	@cmake --build $(BUILD)-fuzz -j $(JOBS) --target fuzzers
	tools/fuzz $(BUILD)-fuzz

SOURCES = $(shell git ls-files '*.cpp' '*.h')

format: packages-to-lint
	clang-format -i $(SOURCES)

# clang-tidy cannot read gcc's precompiled headers. Before LLVM 16, it cannot read views and ranges of libstdc++.
lint: packages-to-lint build
	tools/check_words $(BUILD)/bin/hone
	clang-format --dry-run --Werror $(SOURCES)
	@cmake -S . -B $(BUILD)-lint -G Ninja -DHONE_TESTS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON $(LLVM_OPTION) > /dev/null
	run-clang-tidy-19 -clang-tidy-binary clang-tidy-19 -quiet -p $(BUILD)-lint -extra-arg=-Wno-unknown-warning-option \
	  -extra-arg=-Wno-unused-command-line-argument 'hone/.*\.cpp$$'

# Builds the documentation site in $(BUILD)-docs/site. The packages of docs/requirements.txt come from PyPI.
docs: packages-to-docs
	@test -x $(BUILD)-docs/venv/bin/mkdocs || python3 -m venv $(BUILD)-docs/venv
	@$(BUILD)-docs/venv/bin/pip install --quiet --requirement docs/requirements.txt
	$(BUILD)-docs/venv/bin/mkdocs build --strict --site-dir $(abspath $(BUILD)-docs)/site

clean:
	rm -rf $(BUILD) $(BUILD)-docs $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-bench $(BUILD)-lint
