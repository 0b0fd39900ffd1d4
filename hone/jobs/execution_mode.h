#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/runtime/session.h"
#include "hone/train/training_graph.h"

/// The table of execution modes, which run the same graph in different ways.
namespace hone {

/// An execution mode: how a graph is prepared, and what runs it.
struct ExecutionMode {
  std::string_view name;     ///< value of `--executor`
  std::string_view summary;  ///< what it does, for users
  Executor executor = nullptr;
  Fusing fusing = Fusing::all;
  /// Returns why it cannot run graphs of a session, or "". Null: it can run all.
  std::string (*objection)(const Session&) = nullptr;
  /// Returns the graph that the executor actually runs for a prepared graph. Null: that graph.
  Graph (*executed)(Graph, const Session&) = nullptr;
};

/// Returns all modes; the first is the baseline of comparisons.
const std::vector<ExecutionMode>& execution_modes();
std::vector<std::string> execution_mode_names();
/// Throws `UserError` with the names of all modes.
const ExecutionMode& find_execution_mode(std::string_view name);
/// Returns the mode with the session's executor.
const ExecutionMode& mode_of(const Session& session);
/// Returns why the mode cannot run graphs of a session, or "".
std::string objection_of(const ExecutionMode& mode, const Session& session);
/// Returns the graph that the mode's executor actually runs.
Graph executed_graph(const ExecutionMode& mode, const Graph& graph, const Session& session);
/// Returns the names of the modes that can run graphs of a session.
std::vector<std::string> usable_modes(const Session& session);
/// Throws `UserError` if the mode cannot run graphs of the session.
void check_usable(const ExecutionMode& mode, const Session& session);

/// Runs a graph operation by operation and keeps nothing between runs: neither the order of operations with their
/// kernels, nor memory, nor packed weights.
std::unique_ptr<Executable> run_eagerly(const Graph& graph, const Session& session);

}  // namespace hone
