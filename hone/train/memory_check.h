#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"

/// Whether work fits into memory, asked before it begins.
namespace hone {

/// Memory this process may still take: what the machine has available, or what a container's limit leaves of it.
double available_bytes();

/// What runs of the graph take: its parameters, the peak of its values and of what kernels work in, and what kernels prepare of the
/// parameters that `held` has (`prepared_copies`).
double needed_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                    const ParameterStore& held = {});

/// What one run takes beside the parameters that `held` has: the others, values, room to work in. Kernels prepare nothing for it.
double added_by_one_run(const Graph& graph, const Bindings& bindings, const Session& session,
                        const ParameterStore& held);

/// Predicts (`predict_memory`) that the process is going to hold `added` bytes more than it does with all of `held` read.
void predict_growth(double added, const ParameterStore& held);

/// A graph, the largest batch that it is going to be run with, and the parameters that it is run on.
struct PlannedRuns {
  const Graph& graph;
  Bindings bindings;
  const ParameterStore& held;
};

/// Predicts what graphs take that are run many times each and stay beside each other: values of all of them, and weights of
/// which each keeps its own copy as kernels prepare them.
void predict_beside(const std::vector<PlannedRuns>& all, const Session& session);

/// What those parameters of `other` take that `graph` has not.
double bytes_beside(const Graph& graph, const Graph& other);

/// Runs of one graph on parameters that stay as they are, in batches of any size. All of it must outlive this.
struct RepeatedRuns {
  const Graph& graph;
  Session session;
  const ParameterStore& held;
  double copied_bytes =
      0;  ///< that kernels prepare of `held` (`prepared_copies`), beside pages that they release
};
/// Counts the zeros of weights, once for all checks of such runs. `copied_bytes` is 0 on a device with its own memory.
RepeatedRuns repeated_runs(const Graph& graph, const Session& session, const ParameterStore& held);

/// What these runs take beside the parameters that they hold: `added_by_one_run`, and what kernels prepare.
double added_bytes(const RepeatedRuns& runs, const Bindings& bindings);

/// Throws `UserError` when runs of `graph` add more than is `available` (by default what its device has) to what the process holds: `added_bytes`, and
/// `beside` bytes that stand beside them. `what` says for what: "a training step of 8 texts of up to 512 tokens". Otherwise
/// predicts the sum (`predict_memory`).
void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const ParameterStore& held, const std::string& what,
                  std::optional<double> available = std::nullopt, double beside = 0);
void check_memory(const RepeatedRuns& runs, const Bindings& bindings, const std::string& what,
                  std::optional<double> available = std::nullopt, double beside = 0);

/// The same for texts of these lengths, `batch_size` of them at a time. `purpose`: "", or " for the parent".
void check_batches(const Graph& graph, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const Session& session, const ParameterStore& held,
                   const std::string& purpose, double beside = 0);
void check_batches(const RepeatedRuns& runs, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const std::string& purpose, double beside = 0);

}  // namespace hone
