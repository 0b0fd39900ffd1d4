#include "hone/train/memory_check.h"

#include <algorithm>
#include <map>

#include "hone/analysis/cost.h"
#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/own_process.h"
#include "hone/base/text.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/machine.h"
#include "hone/tensor/mapped.h"

namespace hone {

double available_bytes() {
  const double machine = static_cast<double>(machine_memory().available_bytes);
  const std::optional<std::uint64_t> limit = memory_limit_bytes();
  if (!limit) return machine;
  const double left = static_cast<double>(*limit) - static_cast<double>(resident_bytes());
  return std::clamp(left, 0.0, machine);
}

namespace {

// Returns the bytes of those parameters of a graph for which `counts` is true.
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

double extra_bytes(const Graph& graph, const Graph& other) {
  return parameter_bytes(other,
                         [&](const std::string& name) { return graph.find(name) == nullptr; });
}

namespace {

std::int64_t value_bytes(const Graph& graph, const Bindings& bindings, const Session& session) {
  return peak_value_bytes(graph, bindings) +
         workspace_bytes(session.library.kernels, graph, session.device, bindings);
}

double released_bytes(const PreparedCopy& copy) {
  double bytes = 0;
  for (const Tensor& weight : copy.released) bytes += static_cast<double>(weight.size_bytes());
  return bytes;
}

// Copies are made one at a time, and each releases the pages of its weight.
double copied_bytes(const Graph& graph, const Session& session, const ParameterStore& held) {
  double bytes = 0;
  for (const PreparedCopy& copy : prepared_copies(graph, held, session))
    bytes += std::max(0.0, static_cast<double>(copy.bytes) - released_bytes(copy));
  return bytes;
}

}  // namespace

double needed_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                    const ParameterStore& held) {
  return static_cast<double>(cost(graph, bindings).parameter_bytes +
                             value_bytes(graph, bindings, session)) +
         copied_bytes(graph, session, held);
}

double single_run_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                        const ParameterStore& held) {
  return parameter_bytes(graph, [&](const std::string& name) { return !held.contains(name); }) +
         static_cast<double>(value_bytes(graph, bindings, session));
}

RepeatedRuns repeated_runs(const Graph& graph, const Session& session, const ParameterStore& held) {
  const bool has_own_memory = session.device.free_bytes().has_value();
  return {graph, session, held, has_own_memory ? 0 : copied_bytes(graph, session, held)};
}

double added_bytes(const RepeatedRuns& runs, const Bindings& bindings) {
  return single_run_bytes(runs.graph, bindings, runs.session, runs.held) + runs.copied_bytes;
}

namespace {

/// File-backed weights, without duplicates.
class MappedWeights {
 public:
  void add(const ParameterStore& parameters) {
    for (const auto& [name, tensor] : parameters.tensors())
      if (tensor.storage()->mapped && tensor.count() > 0)  // empty tensors may share addresses
        tensors_.emplace(tensor.device_pointer(), tensor);
  }
  // Returns the size of the pages that have not been read yet.
  double unread_bytes() const {
    double bytes = 0;
    for (const auto& [pointer, tensor] : tensors_)
      bytes += static_cast<double>(hone::unread_bytes(tensor));
    return bytes;
  }

 private:
  std::map<const std::byte*, Tensor> tensors_;
};

double growth(double added, const MappedWeights& mapped) {
  return static_cast<double>(resident_bytes()) + mapped.unread_bytes() + added;
}

}  // namespace

void predict_growth(double added, const ParameterStore& held) {
  MappedWeights mapped;
  mapped.add(held);
  predict_memory(growth(added, mapped));
}

void predict_together(const std::vector<PlannedRuns>& all, const Session& session) {
  MappedWeights mapped;
  std::map<const std::byte*, double> pages;  // released for prepared weights
  double added = 0, prepared = 0;
  for (const PlannedRuns& one : all) {
    mapped.add(one.held);
    added += single_run_bytes(one.graph, one.bindings, session, one.held);
    for (const PreparedCopy& copy : prepared_copies(one.graph, one.held, session)) {
      prepared += static_cast<double>(copy.bytes);
      for (const Tensor& weight : copy.released)
        pages[weight.device_pointer()] = static_cast<double>(weight.size_bytes());
    }
  }
  for (const auto& [pointer, bytes] : pages) prepared -= bytes;
  // Copies of weights can reuse freed heap memory; values need one contiguous block.
  const double copies = std::max(0.0, prepared - static_cast<double>(free_heap_bytes()));
  predict_memory(growth(added + copies, mapped));
}

void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const ParameterStore& held, const std::string& what,
                  std::optional<double> available, double beside) {
  check_memory(repeated_runs(graph, session, held), bindings, what, available, beside);
}

void check_memory(const RepeatedRuns& runs, const Bindings& bindings, const std::string& what,
                  std::optional<double> available, double beside) {
  const Session& session = runs.session;
  // A device with its own memory does not hold any of the model yet.
  const std::optional<std::size_t> of_device = session.device.free_bytes();
  const double added =
      (of_device ? needed_bytes(runs.graph, bindings, session) : added_bytes(runs, bindings)) +
      beside;
  const double most =
      available.value_or(of_device ? static_cast<double>(*of_device) : available_bytes());
  user_check(added <= most,
             "not enough memory{}: {} needs about {} more, and {} is available; use smaller "
             "batches (`batch_size`), shorter texts (`max_seq_length`) or a smaller model",
             of_device ? " on " + to_string(session.device) : "", what, human_bytes(added),
             human_bytes(most));
  if (!of_device) predict_growth(added, runs.held);
}

void check_batches(const Graph& graph, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const Session& session, const ParameterStore& held,
                   const std::string& purpose, double beside) {
  check_batches(repeated_runs(graph, session, held), lengths, batch_size, purpose, beside);
}

void check_batches(const RepeatedRuns& runs, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const std::string& purpose, double beside) {
  const std::int64_t texts = std::min(batch_size, std::ssize(lengths)),
                     tokens = lengths.empty() ? 0 : std::ranges::max(lengths);
  check_memory(runs, {{'B', texts}, {'S', tokens}},
               fmt::format("a batch of {} texts of up to {} tokens{}", texts, tokens, purpose),
               std::nullopt, beside);
}

}  // namespace hone
