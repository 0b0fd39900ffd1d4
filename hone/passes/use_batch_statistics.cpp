#include "hone/passes/use_batch_statistics.h"

namespace hone {

bool use_batch_statistics(Graph& graph) {
  bool changed = false;
  for (Node* norm : graph.operations("batch_norm")) {
    Node& training = graph.add_node(
        "batch_norm_training", {norm->input(0), norm->input(1), norm->input(2)},
        {{"eps", *norm->attributes().find("eps")}}, norm->name() + ".of_batch", norm);
    for (const int statistic : {1, 2}) {
      const Value running = norm->input(static_cast<std::size_t>(statistic) + 2);
      user_check(running.node->kind() == NodeKind::parameter,
                 "%{}: mean and variance of a batch norm that is trained must be parameters, "
                 "which training updates; %{} is not a parameter",
                 norm->name(), running.node->name());
      graph.add("moving_average", {running, training.result(statistic)},
                {{"momentum", *norm->attributes().find("momentum")}},
                running.node->name() + ".update", norm);
    }
    graph.replace_uses(norm->result(), training.result());
    graph.erase(*norm);
    changed = true;
  }
  return changed;
}

PassDef use_batch_statistics_pass() {
  return {.name = "use_batch_statistics",
          .summary = "make batch norms use batch statistics and update running ones",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return use_batch_statistics(graph);
          }};
}

}  // namespace hone
