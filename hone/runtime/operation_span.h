#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

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

/// The sums of what was recorded, by "operation / kernel".
std::map<std::string, KernelTime> kernel_times(std::span<const OperationSpan> spans);

}  // namespace hone
