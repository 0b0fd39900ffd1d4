#include "hone/models/model_zeros.h"

#include "hone/passes/pack.h"
#include "hone/runtime/run_passes.h"

namespace hone {

std::vector<Zeros> zeros_of(const Model& model, const Session& session) {
  if (!has_packed_weights(model.graph)) return parameter_zeros(model.graph, model.parameters);
  Graph graph = model.graph;
  ParameterStore parameters = model.parameters;
  run_passes(graph, parameters, session, {"unpack"});
  return parameter_zeros(graph, parameters);
}

}  // namespace hone
