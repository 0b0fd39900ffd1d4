#include "hone/train/memory_check.h"

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/runtime/machine.h"

namespace hone {

double available_bytes() {
  const double machine = static_cast<double>(machine_memory().available_bytes);
  const std::optional<std::uint64_t> limit = memory_limit_bytes();
  if (!limit) return machine;
  const double left = static_cast<double>(*limit) - static_cast<double>(resident_bytes());
  return std::clamp(left, 0.0, machine);
}

double needed_bytes(const Graph& graph, const Bindings& bindings, const Session& session) {
  const Cost total = cost(graph, bindings);
  return static_cast<double>(
      total.parameter_bytes + total.peak_value_bytes +
      workspace_bytes(session.library.kernels, graph, session.device, bindings));
}

double bytes_beside(const Graph& graph, const Graph& other) {
  double bytes = 0;
  for (const Node* parameter : other.of_kind(NodeKind::parameter)) {
    const Type& type = parameter->types()[0];
    if (graph.find(parameter->name()) == nullptr)
      bytes += static_cast<double>(element_count(resolve(type.shape, {}))) *
               static_cast<double>(info(type.dtype).size_bytes);
  }
  return bytes;
}

void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const std::string& what, double available, double beside) {
  const double needed = needed_bytes(graph, bindings, session) + beside;
  user_check(needed <= available,
             "not enough memory: {} takes about {}, and {} can be had; take smaller batches "
             "(`batch`), shorter texts (`max_seq_length`) or a smaller model",
             what, human_bytes(needed), human_bytes(available));
}

}  // namespace hone
