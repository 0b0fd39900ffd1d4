#pragma once

#include <map>
#include <string>

#include "hone/formats/observation.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// What was seen of the values of one model, for the next calibration of it on the same data: what a model without quantizers computes does
/// not depend on the formats that it is to have.
class ObservedValues {
 public:
  /// Those of a graph without quantizers and the parameters it reads, by `value_name`, as far as they were seen; what was seen of another
  /// one is forgotten. `run` tells what was looked at.
  std::map<std::string, Observation>& of(const Graph& plain, const ParameterStore& parameters,
                                         const std::string& run);

 private:
  std::string graph_, run_;
  ParameterStore parameters_;  // kept, so that no others take their memory
  std::map<std::string, Observation> seen_;
};

}  // namespace hone
