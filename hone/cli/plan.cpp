#include "hone/analysis/precision.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/jobs/compress.h"
#include "hone/models/text_limit.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct PlanArguments {
  std::string model;
  FormatArguments formats;
  std::int64_t batch = 8;
  std::int64_t tokens = 0;
  RunArguments run;
};

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

void print_plan(const PlanArguments& a) {
  Context context = make_context(a.run);
  const Recipe recipe = recipe_from(a.formats, context.library.formats);
  const TextModel source = open_model(a.model, context, a.run.seed);
  tell_warnings(context, source.model.warnings);
  const Graph graph = plain_graph(source.model);
  const QuantizationPlan plan =
      with_context(a.model, [&] { return whole_plan(source.model, resolve(recipe, graph)); });
  const std::int64_t tokens = tokens_of_run(a.tokens, source.model.facts.limits);
  const Table table = plan_table(planned_tensors(graph, plan, {{'B', a.batch}, {'S', tokens}}));
  const PlannedSize size = planned_size(graph, plan);
  if (a.run.json) {
    const Json result = {{"model", a.model},
                         {"layers", to_json(table)},
                         {"parameters", size.parameters},
                         {"quantized_parameters", size.quantized_parameters},
                         {"average_weight_bits", size.average_weight_bits()},
                         {"fp32_bytes", 4 * size.parameters},
                         {"packed_bytes", bytes_of(size.bits)},
                         {"arithmetic", "simulated"}};
    return print_result("plan", result);
  }
  const Cell whole = bytes(4 * size.parameters), packed = bytes(bytes_of(size.bits));
  print_text(
      a.run,
      "{}\n{} of {} parameters in {:.2f} bits on average; the model: {} in fp32, {} if packed. "
      "Arithmetic is simulated: values are rounded, sums are in fp32.\n",
      to_text(table, text_style(a.run)), grouped(size.quantized_parameters),
      grouped(size.parameters), size.average_weight_bits(), display_text(whole),
      display_text(packed));
}

}  // namespace

Command plan_command() {
  return {
      "plan", "show which format every layer would take",
      "hone plan tiny --format 'integer(width=8,frac=4)' --rule 'op = \"linear\", bias = \"none\"'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<PlanArguments>();
        app.add_option("MODEL", a->model, "model folder, or tiny, base or a config.json")
            ->required();
        declare(app, a->formats);
        app.add_option("--batch", a->batch, "texts per run, for the sizes of inputs")
            ->check(number_from(1));
        app.add_option("--tokens", a->tokens,
                       "tokens per text, for the sizes of inputs; by default 128, or the model's "
                       "positions if fewer")
            ->check(number_from(1));
        declare(app, a->run);
        return [a] { print_plan(*a); };
      }};
}

}  // namespace hone
