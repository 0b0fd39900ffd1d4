#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hone/passes/pass.h"
#include "hone/runtime/session.h"

/// How passes are run, in production as in tests:
///
///     run_passes(graph, parameters, session, {"remove_dropout", "remove_dead_code"});
namespace hone {

/// What one pass did.
struct PassRun {
  std::string pass;  ///< its text
  bool changed = false;
  bool skipped = false;
  std::size_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;
  double verify_seconds = 0;
};

/// What a person wants to see of passes, and which to leave out.
struct PassWatch {
  std::set<std::string> skipped = {};  ///< names
  /// Told of each pass when it is done, with the graph it left. May be empty.
  std::function<void(const PassRun&, const Graph&)> look = {};
};

/// Runs passes one after the other, and verifies the graph after each that changed it. An error names the pass; a graph
/// that a pass left broken is an `InternalError` naming pass, node and fact. Returns whether anything changed.
bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::span<const Pass> passes);
/// The same for passes as text.
bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::initializer_list<std::string_view> passes);

/// Makes a forward graph in training mode one of the operations that answers are made by: fewer and larger ones. Parameters
/// stay as they are. Returns whether anything changed.
bool fuse_for_inference(Graph& graph, ParameterStore& parameters, const Session& session);

/// Computes once what depends on parameters alone, and what depends on equal ones. Returns whether anything changed.
bool compute_once(Graph& graph, ParameterStore& parameters, const Session& session);

/// Both: the passes that all jobs run before they predict.
bool prepare_for_inference(Graph& graph, ParameterStore& parameters, const Session& session);

inline constexpr std::string_view kBfloat16 = "bf16", kFloat16 = "fp16";

/// How a graph computes when it is run: `arithmetic_of`, or kNative where products of packed weights sum codes of few bits, or
/// kBfloat16 or kFloat16 where nothing is quantized and values are these.
std::string_view arithmetic_of_run(const Graph& graph, const Session& session);

/// Runs a change that only code can say (a plan of many formats) as the runner runs a pass called `name`. Throws
/// `UserError` where that is to be left out: whoever calls this was asked for it.
bool run_as_pass(Graph& graph, const Session& session, std::string_view name,
                 const std::function<bool()>& change);

}  // namespace hone
