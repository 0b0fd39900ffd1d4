#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"

/// Checks whether work fits into memory before it begins.
namespace hone {

/// Returns the memory that this process may still allocate: what the machine has available, or what remains of a
/// container's limit.
double available_bytes();

/// Returns the memory for runs of the graph: its parameters, the peak of its values and workspaces, and what kernels
/// prepare from the parameters in `held` (`prepared_copies`).
double needed_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                    const ParameterStore& held = {});

/// Returns the memory for a single run besides the parameters in `held`: other parameters, values and workspaces.
/// Kernels prepare nothing for a single run.
double single_run_bytes(const Graph& graph, const Bindings& bindings, const Session& session,
                        const ParameterStore& held);

/// Reports (`predict_memory`) that the process will hold `added` bytes more than it does when all of `held` has been
/// read.
void predict_growth(double added, const ParameterStore& held);

/// A graph, the largest batch of its future runs, and the parameters that they read.
struct PlannedRuns {
  const Graph& graph;
  Bindings bindings;
  const ParameterStore& held;
};

/// Reports the predicted memory of graphs that coexist and run many times each: the values of all, and each one's own
/// prepared copies of weights.
void predict_together(const std::vector<PlannedRuns>& all, const Session& session);

/// Returns the size of those parameters of `other` that `graph` does not have.
double extra_bytes(const Graph& graph, const Graph& other);

/// Runs of one graph on constant parameters, in batches of any size. All referenced objects must outlive this.
struct RepeatedRuns {
  const Graph& graph;
  Session session;
  const ParameterStore& held;
  double copied_bytes =
      0;  ///< prepared by kernels from `held` (`prepared_copies`), minus pages that they release
};
/// Counts the zeros of weights once for all checks of such runs. `copied_bytes` is 0 on a device with its own memory.
RepeatedRuns repeated_runs(const Graph& graph, const Session& session, const ParameterStore& held);

/// Returns the memory for these runs besides the parameters that they hold: `single_run_bytes`, and what kernels
/// prepare.
double added_bytes(const RepeatedRuns& runs, const Bindings& bindings);

/// Throws `UserError` if runs of `graph` need more memory than is `available` (by default, what its device has):
/// `added_bytes`, plus `beside` bytes. `what` names the work: "a training step of 8 texts of up to 512 tokens".
/// Otherwise reports the predicted sum (`predict_memory`).
void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const ParameterStore& held, const std::string& what,
                  std::optional<double> available = std::nullopt, double beside = 0);
void check_memory(const RepeatedRuns& runs, const Bindings& bindings, const std::string& what,
                  std::optional<double> available = std::nullopt, double beside = 0);

/// Checks batches of `batch_size` texts of these lengths. `purpose`: "", or " for calibration".
void check_batches(const Graph& graph, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const Session& session, const ParameterStore& held,
                   const std::string& purpose, double beside = 0);
void check_batches(const RepeatedRuns& runs, std::span<const std::int64_t> lengths,
                   std::int64_t batch_size, const std::string& purpose, double beside = 0);

}  // namespace hone
