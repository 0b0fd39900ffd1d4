#include "hone/passes/smooth_labels.h"

namespace hone {

bool smooth_labels(Graph& graph, double factor) {
  user_check(factor >= 0 && factor < 1, "`label_smoothing_factor` must be within [0, 1), got {}",
             factor);
  const Value loss = graph.output("loss");
  user_check(loss && loss.node->is("cross_entropy"),
             "label smoothing needs a cross-entropy loss over classes; this graph has none");
  if (factor == 0) return false;
  const Value logits = loss.node->inputs()[0], labels = loss.node->inputs()[1];
  const std::string name = loss.node->name();
  const auto classes = static_cast<double>(logits.type().dim(-1).size);
  const Value alike = graph.add(
      "full", {logits}, {{"value", 1 / classes}, {"dtype", std::string("f32")}}, name + ".alike");
  const Value spread =
      graph.add("soft_cross_entropy", {logits, alike, labels}, {}, name + ".spread");
  const Value kept = graph.add("scale", {loss}, {{"factor", 1 - factor}}, name + ".kept");
  const Value moved = graph.add("scale", {spread}, {{"factor", factor}}, name + ".moved");
  graph.set_output("loss", graph.add("add", {kept, moved}, {}, name + ".smoothed"));
  return true;
}

PassDef smooth_labels_pass() {
  return {.name = "smooth_labels",
          .summary = "smooth the labels of the loss",
          .options = {{"factor", "smoothing factor, at least 0 and below 1", 0.1}},
          .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
            return smooth_labels(graph, options.get<double>("factor"));
          }};
}

}  // namespace hone
