#include "hone/train/memory_check.h"

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/own_process.h"
#include "hone/base/text.h"
#include "hone/runtime/interpreter.h"
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

namespace {

// Of the parameters of a graph for which `counts` says so.
template <typename Counts>
double parameter_bytes(const Graph& graph, Counts&& counts) {
  double bytes = 0;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const Type& type = parameter->types()[0];
    if (counts(parameter->name()))
      bytes += static_cast<double>(element_count(resolve(type.shape, {}))) *
               static_cast<double>(info(type.dtype).size_bytes);
  }
  return bytes;
}

}  // namespace

double bytes_beside(const Graph& graph, const Graph& other) {
  return parameter_bytes(other,
                         [&](const std::string& name) { return graph.find(name) == nullptr; });
}

double added_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                   const ParameterStore& held, std::int64_t runs) {
  const double parameters =
      parameter_bytes(graph, [&](const std::string& name) { return !held.contains(name); });
  const KernelTable& kernels = session.library.kernels;
  return parameters +
         static_cast<double>(peak_value_bytes(graph, bindings) +
                             workspace_bytes(kernels, graph, session.device, bindings) +
                             (runs > 1 ? prepared_bytes(kernels, graph, held) : 0));
}

void foretell_growth(double added, const ParameterStore& held) {
  double mapped = 0;
  for (const auto& [name, tensor] : held.tensors())
    if (tensor.storage()->mapped) mapped += static_cast<double>(tensor.size_bytes());
  const ResidentMemory now = resident_memory();
  // Pages of files come when they are read.
  const double files = std::max(static_cast<double>(now.file_bytes), mapped);
  foretell_memory(static_cast<double>(now.anonymous_bytes) + files + added);
}

void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const ParameterStore& held, std::int64_t runs, const std::string& what,
                  double available, double beside) {
  const double added = added_bytes(graph, bindings, session, held, runs) + beside;
  user_check(added <= available,
             "not enough memory: {} takes about {} more, and {} can be had; take smaller batches "
             "(`batch`), shorter texts (`max_seq_length`) or a smaller model",
             what, human_bytes(added), human_bytes(available));
  // Weights are prepared in pieces such as were freed and not given back; values are one block.
  const std::int64_t prepared = runs > 1 ? prepared_bytes(session.library.kernels, graph, held) : 0;
  foretell_growth(added - static_cast<double>(std::min<std::uint64_t>(
                              static_cast<std::uint64_t>(prepared), free_heap_bytes())),
                  held);
}

}  // namespace hone
