#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hone/passes/pass.h"
#include "hone/runtime/session.h"

/// Runs passes, in production and in tests:
///
///     run_passes(graph, parameters, session, {"remove_dropout", "remove_dead_code"});
namespace hone {

struct PassRun {
  std::string pass;  ///< its name and options
  bool changed = false;
  bool skipped = false;
  std::size_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;
  double verify_seconds = 0;
};

/// Which passes to skip, and who observes the others.
struct PassWatch {
  std::set<std::string> skipped = {};  ///< names
  /// Called after each pass with the resulting graph. May be empty.
  std::function<void(const PassRun&, const Graph&)> on_pass = {};
};

/// Runs passes in order, and verifies the graph after each one that changed it. Errors name the pass. A graph that a
/// pass broke is an `InternalError` that names pass, node and fact. Returns whether anything changed.
bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::span<const Pass> passes);
bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::initializer_list<std::string_view> passes);

/// Turns a forward graph in training mode into an inference graph of fewer and larger operations. Parameters stay as
/// they are. Returns whether anything changed.
bool fuse_for_inference(Graph& graph, ParameterStore& parameters, const Session& session);

/// Precomputes values that depend on parameters alone, and merges values that depend on equal ones. Returns whether
/// anything changed.
bool compute_once(Graph& graph, ParameterStore& parameters, const Session& session);

/// Runs `fuse_for_inference` and `compute_once`, as every job does before it predicts.
bool prepare_for_inference(Graph& graph, ParameterStore& parameters, const Session& session);

inline constexpr std::string_view kBfloat16 = "bf16", kFloat16 = "fp16";

/// Returns the arithmetic that a graph uses when it runs: kNative if a kernel sums the codes of packed weights,
/// kBfloat16 or kFloat16 if nothing is quantized and values have that type, else `arithmetic_of`.
std::string_view arithmetic_of_run(const Graph& graph, const Session& session);

/// Runs `change`, which no pass text can express (a plan of many formats), as the runner runs a pass called `name`.
/// Throws `UserError` if the user skips that pass, since the caller needs it.
bool run_as_pass(Graph& graph, const Session& session, std::string_view name,
                 const std::function<bool()>& change);

}  // namespace hone
