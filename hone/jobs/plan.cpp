#include "hone/jobs/plan.h"

#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/models/text_limit.h"
#include "hone/passes/quantize.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

std::int64_t bytes_of(double bits) { return static_cast<std::int64_t>((bits + 7) / 8); }

std::vector<PlannedOperand> planned_operands(const std::vector<PlannedTensor>& tensors) {
  std::vector<PlannedOperand> operands;
  for (const PlannedTensor& t : tensors) {
    const auto elements = static_cast<double>(element_count(t.sizes));
    operands.push_back({.layer = t.layer,
                        .operation = std::string(t.op),
                        .operand = t.operand,
                        .shape = {t.sizes.begin(), t.sizes.end()},
                        .format = to_string(t.format),
                        .average_bits = t.average_bits,
                        .fp32_bytes = bytes_of(32 * elements),
                        .packed_bytes = bytes_of(t.average_bits * elements)});
  }
  return operands;
}

}  // namespace

const Fields& fields_of(const PlannedOperand*) {
  using P = PlannedOperand;
  static const Fields fields = describe<P>(
      "planned_operand", "The format of one operand of a layer.",
      field<&P::layer>("layer", "Name of the layer.", "Layer"),
      field<&P::operation>("operation", "Its operation: linear, matmul, …", "Operation"),
      field<&P::operand>("operand", "The operand.", "Operand"),
      field<&P::shape>("shape", "Its sizes, at --batch_size and --tokens.", "Shape"),
      field<&P::format>("format", "Its format.", "Format"),
      field<&P::average_bits>("average_bits", Unit::bits, "Per value, shared scales included.",
                              "Bits per value"),
      field<&P::fp32_bytes>("fp32_bytes", Unit::bytes, "Its size in fp32.", "fp32"),
      field<&P::packed_bytes>("packed_bytes", Unit::bytes, "Its size packed in the format.",
                              "In format"));
  return fields;
}

const Fields& fields_of(const PlanFields*) {
  using P = PlanFields;
  static const Fields fields = describe<P>(
      "plan", "The format of each operand of each layer, before anything is quantized.",
      field<&P::model>("model", "The model as it was named."),
      field<&P::operands>("operands", "Each operand with a format."),
      field<&P::parameters>("parameters", "Number of parameters."),
      field<&P::quantized_parameters>("quantized_parameters", "Number of these with a format."),
      field<&P::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&P::fp32_bytes>("fp32_bytes", Unit::bytes, "Size of all parameters in fp32."),
      field<&P::packed_bytes>("packed_bytes", Unit::bytes,
                              "Size of all parameters packed in their formats."),
      field<&P::arithmetic>("arithmetic", kArithmeticMeaning));
  return fields;
}

PlanResult plan_formats(const PlanJob& job, Context& context) {
  const TextModel source = open_model(job.model, context, job.seed);
  print_warnings(context, source.model.warnings);
  check_no_sparsities(job.recipe);
  const Graph graph = unquantized_graph(source.model);
  const QuantizationPlan plan = with_context(
      job.model, [&] { return combined_plan(source.model, resolve(job.recipe, graph)); });
  const std::int64_t tokens = tokens_of_run(job.tokens, source.model.facts.limits);
  PlanResult result;
  result.tensors = planned_tensors(graph, plan, {{'B', job.batch}, {'S', tokens}});
  result.size = planned_size(graph, plan);
  result.average_weight_bits = weight_bits(graph, plan).average();
  const PlannedSize& size = result.size;
  const PlanFields fields{.model = job.model,
                          .operands = planned_operands(result.tensors),
                          .parameters = size.parameters,
                          .quantized_parameters = size.quantized_parameters,
                          .average_weight_bits = result.average_weight_bits,
                          .fp32_bytes = 4 * size.parameters,
                          .packed_bytes = bytes_of(size.bits),
                          .arithmetic = std::string(kSimulated)};
  result.fields = to_json(fields);
  const auto whole = static_cast<double>(fields.fp32_bytes),
             packed = static_cast<double>(fields.packed_bytes);
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
  document.sections = {{"",
                        {PageTable{headed_table(fields.operands)},
                         Paragraph{"Arithmetic is simulated: values are rounded, and sums are in "
                                   "fp32."}}}};
  return result;
}

}  // namespace hone
