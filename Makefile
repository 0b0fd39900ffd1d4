# The commands of the project; CMake does the work. BUILD is the build folder.
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: dependencies build demo test test-long bench asan tsan format lint clean

dependencies:
	@tools/install-dependencies

build: dependencies
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_TESTS=OFF > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target hone

demo: build
	$(BUILD)/bin/hone demo -o demo --overwrite

test: dependencies
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) -L fast -j $(JOBS) --output-on-failure

test-long: test
	ctest --test-dir $(BUILD) -L long --output-on-failure

bench: dependencies
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_BENCH=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	$(BUILD)/bench/kernels_bench
	$(BUILD)/bench/formats_bench

# The tests under the address and undefined-behaviour sanitizers.
asan: dependencies
	@cmake -S . -B $(BUILD)-asan -G Ninja -DHONE_SANITIZE=address > /dev/null
	@cmake --build $(BUILD)-asan -j $(JOBS)
	ctest --test-dir $(BUILD)-asan -L fast -j $(JOBS) --output-on-failure

# The thread pool, and the kernels that use it, under the thread sanitizer.
tsan: dependencies
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DHONE_SANITIZE=thread > /dev/null
	@cmake --build $(BUILD)-tsan -j $(JOBS) --target base_test
	$(BUILD)-tsan/tests/base/base_test --gtest_filter='ThreadPool*'

SOURCES = $(shell git ls-files '*.cpp' '*.h')

format:
	clang-format -i $(SOURCES)

lint: dependencies
	clang-format --dry-run --Werror $(SOURCES)
	@cmake -S . -B $(BUILD) -G Ninja -DHONE_TESTS=ON > /dev/null
	run-clang-tidy -quiet -p $(BUILD) -extra-arg=-Wno-unknown-warning-option 'hone/.*\.cpp$$'

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan
