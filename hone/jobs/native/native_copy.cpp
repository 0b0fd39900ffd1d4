#include "hone/jobs/native/native_copy.h"

#include <algorithm>

#include "hone/analysis/precision.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/native_formats.h"

namespace hone {

QuantizationPlan native_plan(const Graph& graph, const Format& weight, const Format& input) {
  const std::set<std::string> tables = table_parameters(graph);
  const auto is_table = [&](const Value& read) { return tables.contains(read.node->name()); };
  QuantizationPlan plan;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    LayerFormats formats;
    if (node->is(kDefaultLayer)) formats.input = input;
    if (node->is(kDefaultLayer) || std::ranges::any_of(node->inputs(), is_table))
      formats.weight = weight;
    if (formats.weight && has_operand(*node, Operand::weight))
      plan.emplace_back(node->name(), formats);
  }
  return plan;
}

Model native_copy(const Model& model, const std::string& name, const Format& weight,
                  Context& context) {
  check_unquantized(model, name);
  CompressOptions options;
  options.plan =
      native_plan(unquantized_graph(model), weight, native_input(weight, context.library.formats));
  Model native = compress(model, {}, options, context);
  transform(native, "pack", context.session());
  return native;
}

}  // namespace hone
