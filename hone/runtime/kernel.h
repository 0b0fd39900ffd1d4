#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/ir/call.h"
#include "hone/ir/graph.h"
#include "hone/runtime/peaks.h"

namespace hone {

struct Session;

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
  rows,      ///< strided, but the last dimension has stride 1
  strided,
};

/// The types that the values of a kernel's calls may have (see `autocast`).
enum class KernelValues : std::uint8_t {
  f32,
  f32_and_halves,  ///< and bf16 and f16
  bf16             ///< alone
};

/// How a kernel that can skip zeros reads a constant weight.
struct WeightZeros {
  std::string_view pattern =
      "";  ///< zeros that it skips: "4x1", "1x4" or "weights"; "": too few are zero
  std::int64_t min_rows = 1;     ///< of inputs, from which on it skips them
  std::int64_t dense_bytes = 0;  ///< that a dense product reads
  std::int64_t bytes = 0;        ///< read by a product that skips zeros
  bool skips() const { return !pattern.empty(); }
};

/// What a kernel keeps of the constant weights of a node (`Kernel::prepare`).
struct PreparedMemory {
  std::int64_t bytes = 0;
  bool releases_pages = false;  ///< pages of weights that lie in files go back to the system for it
  std::optional<WeightZeros> zeros = {};  ///< none: the kernel multiplies zeros like other numbers
};

/// Stands in `Kernel::op` for each operation that is its formula (`OpDef::formula`).
inline constexpr std::string_view kEveryFormula = "formulas";

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
  /// What a call works in beside its results, in bytes, with the symbols bound: `call.workspace`, which calls use one after
  /// the other. Never more for smaller extents. Null: nothing that is worth being counted.
  std::int64_t (*workspace_bytes)(const CallSite&, const Bindings&) = nullptr;
  /// Computes with numbers of few bits as they are, not with floats that they stand for: what such arithmetic reaches at best.
  std::optional<PeakKind> native = std::nullopt;
  /// Without halves it is given f32 alone: on the host, halves are widened in front of it and rounded behind it; on other devices
  /// it is not offered calls of them.
  KernelValues values = KernelValues::f32;
  /// Of the floating-point operations that the operation's record counts, those it computes: below 1 where it needs fewer than the
  /// definition takes.
  double flops_share = 1;
  /// What `prepare` is going to keep for calls with these inputs: constant weights and states; all others are null. It decides as
  /// `prepare` does, so that predictions of memory need not. Null: nothing that is worth being counted.
  PreparedMemory (*prepared_memory)(const CallSite&, std::span<const Tensor* const> inputs,
                                    ThreadPool&) = nullptr;
};

/// Fastest first among the rows of one operation.
using KernelTable = std::vector<Kernel>;

/// Whether a row is one of an operation.
bool is_row_of(const Kernel& kernel, const OpDef& op);

CallSite call_site(const Node& node);

std::vector<Type> types_of(const std::vector<Value>& values);

/// Whether a kernel runs such calls of an operation of the session's library on its device, which may stand in no graph yet.
bool has_fast_kernel(std::string_view op, const Attributes& attributes,
                     const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                     const Session& session);

/// The row that runs such calls on a device; null where none accepts them.
const Kernel* fast_kernel(const KernelTable& kernels, const CallSite& site, const Device& device);

/// The row that runs the calls of a node on a device; null for its reference. Throws `UserError` where neither can.
const Kernel* find_kernel(const KernelTable& kernels, const Node& node, const Device& device);

/// Floating-point operations of a node as a kernel, or for null its reference, computes it; 0 where its operation counts none.
double computed_flops(const Kernel* kernel, const Node& node, const Bindings& bindings);

/// What `Kernel::workspace_bytes` says of a node; 0 for a null kernel.
std::int64_t workspace_bytes(const Kernel* kernel, const Node& node, const Bindings& bindings);
/// The most of all operations of a graph.
std::int64_t workspace_bytes(const KernelTable& kernels, const Graph& graph, const Device& device,
                             const Bindings& bindings);

/// The fast kernels of the CPU.
KernelTable cpu_kernels();

}  // namespace hone
