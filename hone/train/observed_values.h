#pragma once

#include <map>
#include <string>

#include "hone/formats/observation.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// Observations of the values of one model, for later calibrations of it on the same data: without quantizers, the
/// values do not depend on the formats that the model will get.
class ObservedValues {
 public:
  /// Returns the observations so far, by `value_name`, of a graph without quantizers and of the parameters it reads.
  /// Discards observations of another graph, other parameters or another run. `run` identifies the data observed.
  std::map<std::string, Observation>& of(const Graph& plain, const ParameterStore& parameters,
                                         const std::string& run);

 private:
  std::string graph_, run_;
  ParameterStore parameters_;  // kept alive so that their addresses are not reused
  std::map<std::string, Observation> seen_;
};

}  // namespace hone
