#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/times_in_turn.h"
#include "hone/runtime/context.h"

/// A kernel of somebody's own: whether it is taken, whether it is right, and how fast it is beside the program's.
namespace hone {

/// Operations of a graph that are alike to a kernel: their types, with symbols, and attributes.
struct AskedOperation {
  std::string graph;  ///< where it stands: "training step"
  std::string node;   ///< the first that is like it
  std::string text;   ///< "gelu [B, S, 512] {approximate="none"}"
  std::int64_t nodes = 0;
};

/// How far a kernel's results lie from those of the operation's reference, which adds in double.
struct KernelError {
  double largest = 0;  ///< absolute
  double share = 0;    ///< of the largest result
};

/// At these extents of the symbols.
struct KernelAtSizes {
  Bindings bindings;
  KernelError own;
  std::optional<KernelError> built_in =
      {};  ///< none: the program has no kernel for it but the reference
};

struct KernelCheck {
  std::string kernel, device;
  AskedOperation asked;
  std::string refusal = {};    ///< its reason; empty: it is taken
  bool chosen = false;         ///< whether it runs them: no other one that takes them comes first
  std::string built_in = {};   ///< what runs it without this kernel
  std::string unchecked = {};  ///< why it was not held against the reference; empty: it was
  std::vector<KernelAtSizes> sizes = {};
  std::optional<TimesInTurn> times =
      {};  ///< the program's before, its own after; at the first sizes

  /// Within what kernels here are allowed, `kKernelTolerance` of the largest result, at all sizes.
  bool is_right() const;
};
inline constexpr double kKernelTolerance = 1e-5;
/// `AskedOperation::graph` of inference as it is run.
inline constexpr const char* kInferenceGraph = "inference";
/// The same with nothing fused.
inline constexpr const char* kUnfusedGraph = "inference, nothing fused";

/// What operations of a model are asked about.
struct KernelCheckJob {
  std::string model = "tiny";            ///< as `bench_model` takes it
  std::int64_t batch = 8, tokens = 128;  ///< of what is timed
  std::int64_t rounds = 30;
  std::uint64_t seed = 42;
};

/// Every kernel that plugins brought for the context's device, on every operation that it is for: of the model's inference as it is run,
/// of the same with nothing fused, and of a training step. Operands are drawn. Throws `UserError` as `bench_model`; `Interrupted`.
std::vector<KernelCheck> check_plugin_kernels(const KernelCheckJob& job, Context& context);

}  // namespace hone
