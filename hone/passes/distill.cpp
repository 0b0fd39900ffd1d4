#include "hone/passes/distill.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

const Node* cross_entropy_of(const Graph& graph) {
  const std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
  const auto found =
      std::ranges::find_if(operations, [](const Node* node) { return node->is("cross_entropy"); });
  return found == operations.end() ? nullptr : *found;
}

}  // namespace

bool distill(Graph& graph, const Distillation& options) {
  const double temperature = options.temperature, alpha = options.alpha;
  user_check(std::isfinite(temperature) && temperature > 0,
             "`distill_temperature` must be above 0, got {}", temperature);
  user_check(alpha >= 0 && alpha <= 1, "`distill_alpha` must be within [0, 1], got {}", alpha);
  const Node* hard = cross_entropy_of(graph);
  user_check(hard != nullptr && graph.output("loss"),
             "distillation from a teacher's classes needs a cross-entropy loss; this graph "
             "has none");
  const Value logits = hard->inputs()[0], labels = hard->inputs()[1];
  const Value parent = graph.add_input(kTeacherLogits, logits.type());
  const auto with_temperature = [&](Value x, const char* name) {
    return graph.add("scale", {x}, {{"factor", 1 / temperature}}, name);
  };
  const Value teacher = with_temperature(parent, "distill.parent"),
              student = with_temperature(logits, "distill.own");
  const Value teacher_probabilities = graph.add("softmax", {teacher}, {}, "distill.wished");
  // KL is the cross entropy minus the entropy of the teacher.
  const Value cross = graph.add("soft_cross_entropy", {student, teacher_probabilities, labels}, {},
                                "distill.cross_entropy");
  const Value entropy = graph.add("soft_cross_entropy", {teacher, teacher_probabilities, labels},
                                  {}, "distill.entropy");
  const auto scaled = [&](Value x, double factor, const char* name) {
    return graph.add("scale", {x}, {{"factor", factor}}, name);
  };
  const double weight = (1 - alpha) * temperature * temperature;
  const Value divergence = graph.add("add",
                                     {scaled(cross, weight, "distill.cross_entropy.share"),
                                      scaled(entropy, -weight, "distill.entropy.share")},
                                     {}, "distill.divergence");
  graph.set_output(
      "loss", graph.add("add", {scaled(graph.output("loss"), alpha, "distill.labels"), divergence},
                        {}, "distill.loss"));
  return true;
}

PassDef distill_pass() {
  const Distillation usual;
  return {
      .name = "distill",
      .summary = "add a distillation loss to the teacher's logits, which become a new input",
      .options = {{"temperature", "temperature that logits are divided by", usual.temperature},
                  {"alpha", "weight of the label loss, from 0 to 1", usual.alpha}},
      .of_runs = true,  // needs teacher logits from the training job
      .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
        return distill(graph, {options.get<double>("temperature"), options.get<double>("alpha")});
      }};
}

}  // namespace hone
