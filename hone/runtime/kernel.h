#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hone/ir/call.h"

namespace hone {

/// What is known of the calls of a node before any is made.
struct CallSite {
  const OpDef& op;
  const Attributes& attributes;
  std::vector<Type> inputs;
  std::span<const Type> outputs;
};

/// How inputs may lie in memory. What lies otherwise is made dense before the kernel sees it.
enum class Layout {
  dense,     ///< without gaps, in row-major order
  matrices,  ///< strided, but one of the last two dimensions has stride 1
  strided,
};

/// One way to run an operation on devices of a kind. Of the rows of an operation the first that accepts a node runs its calls; the
/// operation's reference kernel stands behind the whole list wherever the host can reach the memory. The quantizer of a
/// number format on another device is a row of `quantize` that accepts nodes of that format; on the host one row asks the
/// format's own record.
struct Kernel {
  std::string_view op;
  std::string_view device;  ///< its kind: "cpu"
  std::string_view name;
  /// "" when the kernel can run all calls of the node, else the reason why not: "x is not f32".
  std::string_view (*accepts)(const CallSite&);
  void (*run)(Call&);
  Layout layout = Layout::dense;
  /// What calls share whose weights and states are parameters that the graph does not write, such as a weight packed as
  /// the kernel reads it: then `call.prepared` of those that follow. Asked when they come for the second time, for what is
  /// used once is not worth it, and again when one was written; it may read no other input. Null where it would not pay.
  /// Without this, nothing is prepared.
  std::shared_ptr<const void> (*prepare)(const Call&) = nullptr;
};

/// Fastest first among the rows of one operation.
using KernelTable = std::vector<Kernel>;

/// The fast kernels of the CPU.
KernelTable cpu_kernels();

}  // namespace hone
