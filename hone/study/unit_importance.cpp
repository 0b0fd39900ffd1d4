#include "hone/study/unit_importance.h"

#include <cmath>

#include "hone/tensor/dense.h"
#include "hone/train/observed_gradients.h"

namespace hone {
namespace {

// Returns the sum of w times its gradient over the columns of each unit; both (N, count width).
std::vector<double> gate_gradients(const UnitGroup& group, const Tensor& weight,
                                   const Tensor& gradient) {
  std::vector<double> sums(static_cast<std::size_t>(group.count));
  const std::span<const float> w = weight.values<float>(), g = gradient.values<float>();
  const auto columns = static_cast<std::size_t>(group.count * group.width);
  for (std::size_t i = 0; i < w.size(); ++i)
    sums[i % columns / static_cast<std::size_t>(group.width)] +=
        static_cast<double>(w[i]) * static_cast<double>(g[i]);
  return sums;
}

void divide_by_norm(std::vector<double>& scores) {
  double squares = 0;
  for (const double score : scores) squares += score * score;
  if (squares > 0)
    for (double& score : scores) score /= std::sqrt(squares);
}

}  // namespace

std::map<std::string, std::vector<double>> unit_importance(const Model& model,
                                                           const std::vector<UnitGroup>& groups,
                                                           const ExampleSource& data,
                                                           const CalibrationRun& run,
                                                           const Session& session) {
  std::map<std::string, std::vector<double>> importance;
  std::map<std::string, std::vector<const UnitGroup*>> read;  // by the weight that reads the groups
  std::vector<std::string> weights;
  for (const UnitGroup& group : groups) {
    importance[group.reader->name()].resize(static_cast<std::size_t>(group.count));
    const std::string& weight = group.reader->inputs()[1].node->name();
    if (!read.contains(weight)) weights.push_back(weight);
    read[weight].push_back(&group);
  }
  ParameterStore parameters = model.parameters;
  observe_gradients(model.graph, weights, parameters, data, run, session, /*beside=*/0,
                    "first_order", [&](const std::string& name, const Tensor& gradient) {
                      for (const UnitGroup* group : read.at(name)) {
                        const std::vector<double> gates = gate_gradients(
                            *group, dense_on(model.parameters.at(name), cpu()), gradient);
                        std::vector<double>& sums = importance.at(group->reader->name());
                        for (std::size_t i = 0; i < gates.size(); ++i)
                          sums[i] += std::abs(gates[i]);
                      }
                    });
  for (auto& [name, scores] : importance) divide_by_norm(scores);
  return importance;
}

}  // namespace hone
