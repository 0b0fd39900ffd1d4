#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/paired_times.h"
#include "hone/runtime/context.h"

/// Check of a plugin's kernel: whether it is selected, whether it is correct, and how fast it is compared with the
/// built-in one.
namespace hone {

/// Operations of a graph that look the same to a kernel: their types, with symbols, and attributes are equal.
struct CheckedOperation {
  std::string graph;  ///< name of the graph: "training step"
  std::string node;   ///< the first such node
  std::string text;   ///< "gelu [B, S, 512] {approximate="none"}"
  std::int64_t nodes = 0;
};

/// Error of a kernel against the operation's reference, which accumulates in double.
struct KernelError {
  double largest = 0;  ///< absolute
  double share = 0;    ///< relative to the largest result
};

/// Errors with these sizes of the symbols.
struct KernelAtSizes {
  Bindings bindings;
  KernelError own;
  std::optional<KernelError> built_in = {};  ///< empty: hone has only the reference
};

struct KernelCheck {
  std::string kernel, device;
  CheckedOperation operation;
  std::string refusal = {};    ///< why the kernel does not accept them; empty: it does
  bool chosen = false;         ///< whether it runs them, as the first kernel that accepts them
  std::string built_in = {};   ///< the kernel that runs them without this one
  std::string unchecked = {};  ///< why it was not compared with the reference; empty: it was
  std::vector<KernelAtSizes> sizes = {};
  std::optional<TimesInTurn> times = {};  ///< before: built-in, after: plugin; at the first sizes

  /// Returns whether all errors are within `kKernelTolerance` of the largest result, as required of hone's own kernels.
  bool is_correct() const;
};
inline constexpr double kKernelTolerance = 1e-5;
/// `CheckedOperation::graph` for the inference graph.
inline constexpr const char* kInferenceGraph = "inference";
/// The same without fusion.
inline constexpr const char* kUnfusedGraph = "inference, nothing fused";

/// A model whose operations to check.
struct KernelCheckJob {
  std::string model = "tiny";            ///< see `bench_model`
  std::int64_t batch = 8, tokens = 128;  ///< of the timed sizes
  std::int64_t rounds = 30;
  std::uint64_t seed = 42;
};

/// Checks every plugin kernel for the context's device on every operation that it implements, in the model's inference
/// graph, in the same without fusion, and in a training step. Operands are random. Throws `UserError` like
/// `bench_model`, and `Interrupted`.
std::vector<KernelCheck> check_plugin_kernels(const KernelCheckJob& job, Context& context);

}  // namespace hone
