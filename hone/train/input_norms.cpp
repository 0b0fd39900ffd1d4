#include "hone/train/input_norms.h"

#include <cmath>

#include "hone/passes/prune.h"
#include "hone/train/observed_inputs.h"

namespace hone {

std::map<std::string, Tensor> input_norms(const Graph& graph,
                                          const std::vector<std::string>& target,
                                          ParameterStore& parameters, const ExampleSource& data,
                                          const CalibrationRun& run, const Session& session) {
  Graph observed = graph;
  observed.clear_outputs();
  std::map<std::string, std::string> weight_of;  // by the output that the weight multiplies
  for (Node* product : prunable_products(observed, target)) {
    const Node* const weight = stored_parameter(product_weight(*product));
    user_check(weight->types()[0].rank() == 2,
               "{}: `method` wanda supports only linear layers; exclude this one from `target`",
               product->name());
    observed.set_output(product->name(), product_input(*product));
    weight_of[product->name()] = weight->name();
  }
  std::map<std::string, std::vector<double>> squares;
  observe_outputs(std::move(observed), parameters, data, run, session, /*beside=*/0,
                  [&](const std::string& name, const Tensor& x) {
                    const std::span<const float> values = x.values<float>();
                    std::vector<double>& sums = squares[weight_of.at(name)];
                    const auto columns = static_cast<std::size_t>(x.size(-1));
                    sums.resize(columns);
                    for (std::size_t i = 0; i < values.size(); ++i)
                      sums[i % columns] += static_cast<double>(values[i]) * values[i];
                  });
  std::map<std::string, Tensor> norms;
  for (const auto& [name, sums] : squares) {
    std::vector<float> roots;
    for (const double sum : sums) roots.push_back(static_cast<float>(std::sqrt(sum)));
    norms.emplace(name, Tensor::of<float>({std::ssize(roots)}, roots));
  }
  return norms;
}

}  // namespace hone
