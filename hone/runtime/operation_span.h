#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/graph.h"

/// Timings that an executable records (`Executable::record`).
namespace hone {

/// One executed operation of one run.
struct OperationSpan {
  const Node* node = nullptr;
  std::string_view kernel;  ///< "reference" if no kernel accepted it
  std::chrono::steady_clock::time_point begin, end;
  std::int64_t value_bytes = 0;  ///< of all values alive after it

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// Time spent in one kernel.
struct KernelTime {
  std::int64_t calls = 0;
  double seconds = 0;
};

/// Returns the number of runs that `of_faster_half` keeps.
constexpr std::int64_t faster_half(std::int64_t runs) { return (runs + 1) / 2; }
/// Returns the spans of the faster half of `runs` runs, in order; all runs must have the same number of spans. This
/// drops runs that other programs interrupted, so that the shares of operations are accurate.
std::vector<OperationSpan> of_faster_half(std::span<const OperationSpan> spans, std::int64_t runs);

/// Returns the sums of spans by "operation / kernel".
std::map<std::string, KernelTime> kernel_times(std::span<const OperationSpan> spans);

}  // namespace hone
