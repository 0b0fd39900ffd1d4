#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/call.h"

namespace hone {

/// One way to run an operation on a device. The interpreter takes the first row of the list that accepts a call; an
/// operation's reference kernel stands behind the whole list wherever the host can reach the memory.
struct Kernel {
  std::string_view op;
  std::string_view device;
  std::string_view name;
  /// "" when the kernel can run the call, else the reason why not: "x is strided".
  std::string_view (*accepts)(const Call&);
  void (*run)(Call&);
};

/// Fastest first among the rows of one operation.
using KernelTable = std::vector<Kernel>;

/// The fast kernels of the CPU.
KernelTable cpu_kernels();

}  // namespace hone
