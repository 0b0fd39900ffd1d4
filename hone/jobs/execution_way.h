#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/runtime/session.h"
#include "hone/train/training_graph.h"

/// Ways to run one and the same graph, to be held against each other: a table.
namespace hone {

/// How a model's graph is made ready, and what runs it.
struct ExecutionWay {
  std::string_view name;     ///< of `--executor`
  std::string_view summary;  ///< for people, what it does
  Executor executor = nullptr;
  Fusing fusing = Fusing::all;
  /// Why graphs of a session cannot be run so; "": they can. Null: those of all can.
  std::string (*objection)(const Session&) = nullptr;
  /// What the executor runs in place of a graph that was made ready for it. Null: that graph.
  Graph (*executed)(Graph, const Session&) = nullptr;
};

/// All of them; the first is what others are compared with.
const std::vector<ExecutionWay>& execution_ways();
std::vector<std::string> execution_way_names();
/// Throws `UserError`, which names all.
const ExecutionWay& find_execution_way(std::string_view name);
/// The one with the session's executor: jobs run their graphs by it.
const ExecutionWay& way_of(const Session& session);
/// Why graphs of a session cannot be run by it; "": they can.
std::string objection_of(const ExecutionWay& way, const Session& session);
/// What the way's executor runs in place of such a graph.
Graph executed_graph(const ExecutionWay& way, const Graph& graph, const Session& session);
/// Those that graphs of a session can be run by, by name.
std::vector<std::string> usable_ways(const Session& session);
/// Throws `UserError` where those of this one cannot.
void check_usable(const ExecutionWay& way, const Session& session);

/// Runs a graph operation by operation, and keeps nothing between two runs: neither the order of operations with their
/// kernels, nor memory, nor weights as kernels pack them.
std::unique_ptr<Executable> run_eagerly(const Graph& graph, const Session& session);

}  // namespace hone
