#include "hone/app/format_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/analysis/precision.h"
#include "hone/app/recipe.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

Cell snr_cell(double snr_db) { return std::isnan(snr_db) ? Cell(absent) : real(snr_db, 1); }

FormatResult try_choice(const Model& model, const Measurement& before, const EncodedSplits& data,
                        std::int32_t pad_id, const FormatChoice& choice, CompressOptions options,
                        Context& context) {
  const Graph graph = build_graph(model, context.library.ops, {});
  options.plan = uniform_plan(graph, choice.formats);
  options.calibration.heed_objections = false;  // what it costs is what is asked
  const Model quantized = compress(model, data, pad_id, options, context);
  Measurement after = measure(quantized, data.test, pad_id, options.fine_tune.eval_batch_size,
                              context, choice.label);
  const Comparison comparison = compare(before.view(), after.view(), data.test.labels);
  const PlannedSize size = planned_size(graph, options.plan);
  return {choice,
          {choice.label, size.average_weight_bits(), std::move(after), comparison},
          size.bits / 8,
          measure_noise(model, options.plan, data.train, pad_id, options.calibration, context)};
}

double snr_of_layer(const std::vector<OperandNoise>& noise, const std::string& layer,
                    Operand operand) {
  std::vector<OperandNoise> own;
  for (const OperandNoise& one : noise)
    if (one.layer == layer) own.push_back(one);
  return mean_snr_db(own, operand);
}

}  // namespace

FormatChoice parse_choice(std::string_view text, const FormatTable& formats) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return {std::string(text), LayerFormats::reads(parse_format(text, formats))};
  return {std::string(text),
          {.input = parse_optional_format(text.substr(slash + 1), formats),
           .weight = parse_optional_format(text.substr(0, slash), formats)}};
}

std::vector<FormatChoice> usual_choices(const FormatTable& formats) {
  std::vector<FormatChoice> choices;
  for (const char* text : {"bf16",
                           "fp16",
                           "int(bits=8)",
                           "int(bits=8,per=row,scale=dynamic)",
                           "integer(width=8)",
                           "integer(width=8,frac=4)",
                           "mxint(bits=8,block=32)",
                           "block_fp(width=8)",
                           "mxint_hardware(exponent_width=4)",
                           "mxfp(element=e4m3)",
                           "mxfp(element=e5m2)",
                           "minifloat_ieee(width=8,exponent_width=4)",
                           "minifloat_denorm(width=8,exponent_width=4)",
                           "block_minifloat(width=8)",
                           "log(width=8)",
                           "block_log(width=8)",
                           "mxfp(element=e3m2)",
                           "mxfp(element=e2m3)",
                           "int(bits=4,per=row,scale=dynamic)",
                           "mxint(bits=4,block=32)",
                           "mxfp(element=e2m1)",
                           "ternary/none",
                           "binary/none",
                           "binary_scaling/none",
                           "none/binary_residual_sign"})
    choices.push_back(parse_choice(text, formats));
  return choices;
}

std::vector<FormatResult> compare_formats(const Model& model, const Measurement& before,
                                          const EncodedSplits& data, std::int32_t pad_id,
                                          const std::vector<FormatChoice>& choices,
                                          const CompressOptions& options, Context& context) {
  std::vector<FormatResult> results;
  for (const FormatChoice& choice : choices)
    results.push_back(try_choice(model, before, data, pad_id, choice, options, context));
  return results;
}

double mean_snr_db(const std::vector<OperandNoise>& noise, Operand operand) {
  double shares = 0;
  int count = 0;
  for (const OperandNoise& one : noise) {
    if (one.operand != operand || one.noise.signal == 0) continue;
    shares += one.noise.noise / one.noise.signal;
    ++count;
  }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  if (shares == 0) return std::numeric_limits<double>::infinity();
  return -10 * std::log10(shares / count);
}

Table choice_table(const std::vector<FormatResult>& results, const Measurement& before) {
  Table table({{"format", "Format"},
               {"average_weight_bits", "Bits"},
               {"bytes", "If packed"},
               {"weight_snr_db", "Weights (dB)"},
               {"input_snr_db", "Inputs (dB)"},
               {"output_snr_db", "Outputs (dB)"},
               {"accuracy", "Accuracy"},
               {"flips", "Flips"},
               {"margin_snr_db", "Margins (dB)"},
               {"arithmetic", "Arithmetic"}});
  table.add_row({"fp32", real(32, 2), absent, absent, absent, absent,
                 percent(before.evaluation.accuracy, 2), absent, absent, "fp32"});
  for (const FormatResult& r : results) {
    const Comparison& c = *r.model.comparison;
    table.add_row({r.choice.label, real(r.model.average_weight_bits, 2),
                   bytes(static_cast<std::int64_t>(std::ceil(r.bytes))),
                   snr_cell(mean_snr_db(r.noise, Operand::weight)),
                   snr_cell(mean_snr_db(r.noise, Operand::input)),
                   snr_cell(mean_snr_db(r.noise, Operand::output)),
                   percent(r.model.measurement.evaluation.accuracy, 2), percent(c.flip_share, 2),
                   snr_cell(c.margin_snr_db), "simulated"});
  }
  return table;
}

Json choices_json(const std::vector<FormatResult>& results, const Measurement& before,
                  const std::vector<std::string>& labels) {
  Json rows = Json::array();
  const auto add = [&](const ComparedModel& model) {
    rows.push_back({{"format", model.label}});
    rows.back().update(to_json(model, labels));
    rows.back().erase("model");
  };
  add({"fp32", 32, before, std::nullopt, /*quantized=*/false});
  for (const FormatResult& r : results) {
    add(r.model);
    rows.back().update({{"bytes", static_cast<std::int64_t>(std::ceil(r.bytes))},
                        {"weight_snr_db", mean_snr_db(r.noise, Operand::weight)},
                        {"input_snr_db", mean_snr_db(r.noise, Operand::input)},
                        {"output_snr_db", mean_snr_db(r.noise, Operand::output)}});
  }
  return rows;
}

Table layer_table(const std::vector<FormatResult>& results) {
  Table table({{"layer", "Layer"},
               {"format", "Format"},
               {"weight_snr_db", "Weights (dB)"},
               {"input_snr_db", "Inputs (dB)"},
               {"output_snr_db", "Outputs (dB)"}});
  std::vector<std::string> layers;
  for (const FormatResult& result : results)
    for (const OperandNoise& one : result.noise)
      if (std::ranges::find(layers, one.layer) == layers.end()) layers.push_back(one.layer);
  for (const std::string& layer : layers) {
    for (const FormatResult& r : results)
      table.add_row({layer, r.choice.label, snr_cell(snr_of_layer(r.noise, layer, Operand::weight)),
                     snr_cell(snr_of_layer(r.noise, layer, Operand::input)),
                     snr_cell(snr_of_layer(r.noise, layer, Operand::output))});
  }
  return table;
}

}  // namespace hone
