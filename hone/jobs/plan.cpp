#include "hone/jobs/plan.h"

#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/models/text_limit.h"
#include "hone/report/table.h"

namespace hone {
namespace {

std::int64_t bytes_of(double bits) { return static_cast<std::int64_t>((bits + 7) / 8); }

Table plan_table(const std::vector<PlannedTensor>& tensors) {
  Table table({{"layer", "Layer"},
               {"operation", "Operation"},
               {"operand", "Operand"},
               {"shape", "Shape"},
               {"format", "Format"},
               {"average_bits", "Bits"},
               {"fp32_bytes", "fp32"},
               {"packed_bytes", "In format"},
               {"arithmetic", "Arithmetic"}});
  for (const PlannedTensor& t : tensors) {
    const auto elements = static_cast<double>(element_count(t.sizes));
    table.add_row({t.layer, t.op, to_string(t.operand), t.sizes, to_string(t.format),
                   bits(t.average_bits), bytes(bytes_of(32 * elements)),
                   bytes(bytes_of(t.average_bits * elements)), "simulated"});
  }
  return table;
}

}  // namespace

PlanResult plan_formats(const PlanJob& job, Context& context) {
  const TextModel source = open_model(job.model, context, job.seed);
  tell_warnings(context, source.model.warnings);
  check_formats_alone(job.recipe);
  const Graph graph = plain_graph(source.model);
  const QuantizationPlan plan =
      with_context(job.model, [&] { return whole_plan(source.model, resolve(job.recipe, graph)); });
  const std::int64_t tokens = tokens_of_run(job.tokens, source.model.facts.limits);
  PlanResult result{.tensors = planned_tensors(graph, plan, {{'B', job.batch}, {'S', tokens}}),
                    .size = planned_size(graph, plan),
                    .average_weight_bits = weight_bits(graph, plan).average(),
                    .fields = {},
                    .text = {}};
  const PlannedSize& size = result.size;
  const Table table = plan_table(result.tensors);
  result.fields = {{"model", job.model},
                   {"layers", to_json(table)},
                   {"parameters", size.parameters},
                   {"quantized_parameters", size.quantized_parameters},
                   {"average_weight_bits", result.average_weight_bits},
                   {"fp32_bytes", 4 * size.parameters},
                   {"packed_bytes", bytes_of(size.bits)},
                   {"arithmetic", "simulated"}};
  result.text = [table, size, weights = result.average_weight_bits](const TextStyle& style) {
    const Cell whole = bytes(4 * size.parameters), packed = bytes(bytes_of(size.bits));
    return fmt::format(
        "{}\n{} of {} parameters in a format; weights of linears in {:.2f} bits on average; the "
        "model: {} in fp32, {} if packed. "
        "Arithmetic is simulated: values are rounded, sums are in fp32.\n",
        to_text(table, style), grouped(size.quantized_parameters), grouped(size.parameters),
        weights, display_text(whole), display_text(packed));
  };
  return result;
}

}  // namespace hone
