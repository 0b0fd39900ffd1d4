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

/// Facts about the calls of a node that are known before any call is made.
struct CallSite {
  const OpDef& op;
  const Attributes& attributes;
  std::vector<Type> inputs;
  std::span<const Type> outputs;
};

/// Memory layouts that a kernel accepts. Other inputs are made dense before the call.
enum class Layout {
  dense,     ///< without gaps, in row-major order
  matrices,  ///< strided, but one of the last two dimensions has stride 1
  rows,      ///< strided, but the last dimension has stride 1
  strided,
};

/// Types of the values that a kernel accepts (see `autocast`).
enum class KernelValues : std::uint8_t {
  f32,
  f32_and_halves,  ///< also bf16 and f16
  bf16             ///< only bf16
};

/// How a kernel that can skip zeros reads a constant weight.
struct WeightZeros {
  std::string_view pattern = "";  ///< of the zeros it skips: "4x1", "1x4" or "weights"; "": too few
  std::int64_t min_rows = 1;      ///< number of input rows from which it skips zeros
  std::int64_t dense_bytes = 0;   ///< read by a dense product
  std::int64_t bytes = 0;         ///< read by a product that skips zeros
  bool skips() const { return !pattern.empty(); }
};

/// Memory that a kernel keeps for the constant weights of a node (`Kernel::prepare`).
struct PreparedMemory {
  std::int64_t bytes = 0;
  bool releases_pages = false;  ///< pages of file-backed weights are returned to the system
  std::optional<WeightZeros> zeros = {};  ///< none: the kernel multiplies zeros like other numbers
};

/// The `Kernel::op` of a row that runs every operation defined by a formula (`OpDef::formula`).
inline constexpr std::string_view kAnyFormula = "formulas";

/// An implementation of an operation for one kind of device. The first row of an operation that accepts a node runs
/// its calls. If no row does, the operation's reference kernel runs them, provided the host can access the memory.
/// The quantizer of a number format on another device is a row of `quantize` that accepts nodes of that format; on
/// the host one row calls the format's own record.
struct Kernel {
  std::string_view op;
  std::string_view device;  ///< its kind: "cpu"
  std::string_view name;
  /// Returns "" if the kernel can run all calls of the node, else the reason why not: "x is not f32".
  std::string_view (*accepts)(const CallSite&);
  void (*run)(Call&);
  Layout layout = Layout::dense;
  /// Returns data derived from weights and states that are parameters which the graph does not write, such as a
  /// weight packed for the kernel. Later calls find it in `call.prepared`. Called on the second run, because
  /// preparing for a single use does not pay, and again whenever such a parameter was written. It may read no other
  /// input. Returns null if preparing would not pay. If this is null, nothing is prepared.
  std::shared_ptr<const void> (*prepare)(const Call&) = nullptr;
  /// Returns the size in bytes of the scratch memory `call.workspace`, given bindings of the symbols. Calls use it
  /// one after the other. It must not shrink when extents grow. Null: too little to count.
  std::int64_t (*workspace_bytes)(const CallSite&, const Bindings&) = nullptr;
  /// Set if the kernel computes with the codes of few bits, not with the floats they represent: the peak that bounds
  /// this arithmetic.
  std::optional<PeakKind> native = std::nullopt;
  /// A kernel without halves receives only f32. On the host, halves are widened before the call and rounded after it;
  /// on other devices such calls are not offered to the kernel.
  KernelValues values = KernelValues::f32;
  /// Share of the operation's nominal floating-point operations that the kernel computes; below 1 if its algorithm
  /// needs fewer.
  double flops_share = 1;
  /// Returns what `prepare` will keep for calls with these inputs: constant weights and states; all others are null.
  /// It decides as `prepare` does, so that memory can be predicted without preparing. Null: too little to count.
  PreparedMemory (*prepared_memory)(const CallSite&, std::span<const Tensor* const> inputs,
                                    ThreadPool&) = nullptr;
};

/// Rows of the same operation are ordered fastest first.
using KernelTable = std::vector<Kernel>;

bool implements_op(const Kernel& kernel, const OpDef& op);

CallSite call_site(const Node& node);

std::vector<Type> types_of(const std::vector<Value>& values);

/// Returns whether a kernel runs such calls of an operation of the session's library on its device. The operation
/// need not be in any graph.
bool has_fast_kernel(std::string_view op, const Attributes& attributes,
                     const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                     const Session& session);

/// Returns the row that runs such calls on a device; null if none accepts them.
const Kernel* fast_kernel(const KernelTable& kernels, const CallSite& site, const Device& device);

/// Returns the row that runs the calls of a node on a device; null for its reference. Throws `UserError` if neither
/// can.
const Kernel* find_kernel(const KernelTable& kernels, const Node& node, const Device& device);

/// Returns the floating-point operations of a node when computed by a kernel, or by its reference if null; 0 if its
/// operation counts none.
double computed_flops(const Kernel* kernel, const Node& node, const Bindings& bindings);

/// Returns `Kernel::workspace_bytes` of a node; 0 for a null kernel.
std::int64_t workspace_bytes(const Kernel* kernel, const Node& node, const Bindings& bindings);
/// Returns the maximum over all operations of a graph.
std::int64_t workspace_bytes(const KernelTable& kernels, const Graph& graph, const Device& device,
                             const Bindings& bindings);

KernelTable cpu_kernels();

}  // namespace hone
