#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/graph.h"

/// What an executable records of its runs (`Executable::record`).
namespace hone {

/// One operation of one run.
struct OperationSpan {
  const Node* node = nullptr;
  std::string_view kernel;  ///< "reference": none took it
  std::chrono::steady_clock::time_point begin, end;
  std::int64_t value_bytes = 0;  ///< of all values that are alive behind it

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// Time spent in one kernel.
struct KernelTime {
  std::int64_t calls = 0;
  double seconds = 0;
};

/// How many of so many runs `of_faster_half` takes.
constexpr std::int64_t faster_half(std::int64_t runs) { return (runs + 1) / 2; }
/// The spans of the faster half of so many runs, in their order, of which each has as many. A run that other programs
/// interrupted is not among them, so shares of its operations are those of the work.
std::vector<OperationSpan> of_faster_half(std::span<const OperationSpan> spans, std::int64_t runs);

/// The sums of what was recorded, by "operation / kernel".
std::map<std::string, KernelTime> kernel_times(std::span<const OperationSpan> spans);

}  // namespace hone
