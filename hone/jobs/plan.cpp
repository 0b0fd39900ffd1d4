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
               {"average_bits", "Bits per weight"},
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
  PlanResult result;
  result.tensors = planned_tensors(graph, plan, {{'B', job.batch}, {'S', tokens}});
  result.size = planned_size(graph, plan);
  result.average_weight_bits = weight_bits(graph, plan).average();
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
  const auto whole = static_cast<double>(4 * size.parameters),
             packed = static_cast<double>(bytes_of(size.bits));
  Document& document = result.document;
  document.title = fmt::format("Formats of {}", job.model);
  document.notes = source.model.warnings;
  document.headline =
      fmt::format("{} if packed, {} in fp32", human_bytes(packed), human_bytes(whole));
  if (packed < whole)
    document.headline += fmt::format(" ({}× smaller)", three_digits(whole / packed));
  document.key_figures = {
      {"Quantized", fmt::format("{} of {} parameters", grouped(size.quantized_parameters),
                                grouped(size.parameters))},
      {"Weights of linear layers",
       fmt::format("{:.2f} bits on average", result.average_weight_bits)}};
  document.sections = {
      {"",
       {PageTable{table}, Paragraph{"Arithmetic is simulated: values are rounded, and sums are in "
                                    "fp32."}}}};
  return result;
}

}  // namespace hone
