#include "hone/jobs/format_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/analysis/precision.h"
#include "hone/base/text.h"
#include "hone/jobs/recipe.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

Cell snr_cell(double snr_db) { return std::isnan(snr_db) ? Cell(absent) : real(snr_db, 1); }

CompressOptions options_for(const FormatChoice& choice, const Graph& graph,
                            CompressOptions options) {
  options.plan = uniform_plan(graph, choice.formats);
  options.calibration.check_objections = false;  // the cost is measured anyway
  return options;
}

void judge(std::vector<FormatResult>& results) {
  std::vector<MetricChange> changes;
  for (const FormatResult& result : results) changes.push_back(result.model.comparison->change);
  const std::vector<Verdict> verdicts = verdicts_of_choice(changes);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].model.verdict = verdicts[i];
}

std::optional<std::size_t> fewest_bits(const std::vector<FormatResult>& results) {
  std::optional<std::size_t> best;
  const auto rank = [&](std::size_t i) {
    const ComparedModel& model = results[i].model;
    return std::pair(model.average_weight_bits, -model.comparison->snr_db);
  };
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].model.verdict->within_limit() && (!best || rank(i) < rank(*best))) best = i;
  return best;
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

std::vector<FormatChoice> default_format_choices(const FormatTable& formats) {
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
                           "int(bits=4,group=32)",
                           "nf4/none",
                           "mxint(bits=4,block=32)",
                           "mxfp(element=e2m1)",
                           "ternary/none",
                           "binary/none",
                           "binary_scaling/none",
                           "none/binary_residual_sign"})
    choices.push_back(parse_choice(text, formats));
  return choices;
}

FormatStudy compare_formats(const Model& model, const EncodedSplits& data,
                            const std::vector<FormatChoice>& choices,
                            const CompressOptions& options, Context& context) {
  const std::int64_t batch_size = options.fine_tune.eval_batch_size;
  const EncodedSet& examples = choice_split(data).examples;
  const Graph graph = unquantized_graph(model);
  FormatStudy study{
      .choice = begin_choice(model, data, batch_size, context), .results = {}, .chosen = {}};
  for (const FormatChoice& choice : choices) {
    const CompressOptions own = options_for(choice, graph, options);
    const Model quantized = compress(model, data, own, context);
    study.results.push_back(
        {choice,
         compared(quantized, choice.label, study.choice.baseline, examples, batch_size, context),
         planned_size(graph, own.plan).bits / 8,
         measure_noise(model, own.plan, data.train, own.calibration, context)});
  }
  judge(study.results);
  study.chosen = fewest_bits(study.results);
  if (!study.chosen) {
    report_chosen(study.choice, {}, model, data, batch_size, context);
    return study;
  }
  // Made again, because all models of a long list would not fit into memory.
  const FormatChoice& choice = study.results[*study.chosen].choice;
  const Model chosen = compress(model, data, options_for(choice, graph, options), context);
  report_chosen(study.choice, {{choice.label, &chosen}}, model, data, batch_size, context);
  return study;
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

Table choice_table(const FormatStudy& study) {
  std::vector<Column> columns = {{"format", "Format"},
                                 {"average_weight_bits", "Bits per weight"},
                                 {"packed_bytes", "If packed"}};
  for (Column& column : metric_columns(study.choice.baseline.evaluation.metric))
    columns.push_back(std::move(column));
  for (const Column& column : {Column{"weight_snr_db", "Weights (dB)"},
                               {"input_snr_db", "Inputs (dB)"},
                               {"output_snr_db", "Outputs (dB)"},
                               {"arithmetic", "Arithmetic"}})
    columns.push_back(column);
  Table table(std::move(columns));
  const auto add = [&](const std::string& label, Cell size, const ComparedModel& model,
                       const std::vector<OperandNoise>& noise) {
    std::vector<Cell> row = {label, bits(model.average_weight_bits), std::move(size)};
    for (Cell& cell : metric_cells(model)) row.push_back(std::move(cell));
    for (const Operand operand : {Operand::weight, Operand::input, Operand::output})
      row.push_back(snr_cell(mean_snr_db(noise, operand)));
    row.emplace_back(model.arithmetic);
    table.add_row(std::move(row));
  };
  add("fp32", absent, baseline_row(study.choice, study.choice.baseline), {});
  for (const FormatResult& r : study.results)
    add(r.choice.label, bytes(static_cast<std::int64_t>(std::ceil(r.bytes))), r.model, r.noise);
  return table;
}

std::vector<ComparedModel> compared_models(const FormatStudy& study) {
  std::vector<ComparedModel> models = {baseline_row(study.choice, study.choice.baseline)};
  for (const FormatResult& result : study.results) models.push_back(result.model);
  return models;
}

std::vector<NamedEvaluation> chosen_evaluations(const FormatStudy& study) {
  if (!study.chosen) return {};
  return chosen_evaluations(study.choice, {&study.results[*study.chosen].model});
}

namespace {

double worst_change(const FormatResult& result) {
  const std::optional<Interval>& interval = result.model.comparison->change.interval;
  return interval ? interval->low : -std::numeric_limits<double>::infinity();
}

// If none is within the limit, returns those whose interval has the highest lower end, the least noisy first. The
// highest value itself would favor candidates that were lucky.
std::vector<const FormatResult*> least_at_worst(const FormatStudy& study) {
  const double least = worst_change(*std::ranges::max_element(study.results, {}, worst_change));
  std::vector<const FormatResult*> best;
  for (const FormatResult& result : study.results)
    if (worst_change(result) == least) best.push_back(&result);
  std::ranges::stable_sort(best, std::greater(), [](const FormatResult* result) {
    return result->model.comparison->snr_db;
  });
  return best;
}

// ", with 0.00 to 2.50% of predictions changed"; empty for regression.
std::string flips_of(const std::vector<const FormatResult*>& best) {
  if (!best[0]->model.comparison->counted) return "";
  const auto flips = [](const FormatResult* result) {
    return result->model.comparison->counted->flip_share;
  };
  const auto ends = std::ranges::minmax_element(best, {}, flips);
  const double fewest = flips(*ends.min), most = flips(*ends.max);
  return fewest == most
             ? fmt::format(", with {} of predictions changed", flip_share_text(most))
             : fmt::format(", with {} to {} of predictions changed",
                           percent_number(fewest, kDifferenceDigits), flip_share_text(most));
}

// "int8 has the highest lower end of the 95% interval: -1.00 points, …", or "3 of them share the highest lower end of
// the 95% interval, -9.43 points, with 0.00 to 2.50% of predictions changed (a, b, c)".
std::string least_text(const std::vector<const FormatResult*>& best) {
  constexpr std::size_t kNamed = 4;
  if (best.size() == 1)
    return fmt::format("{} has the highest lower end of the 95% interval: {}",
                       best[0]->choice.label, change_sentence(*best[0]->model.comparison));
  std::string names;
  for (std::size_t i = 0; i < std::min(best.size(), kNamed); ++i)
    names += (i == 0 ? "" : ", ") + best[i]->choice.label;
  if (best.size() > kNamed) names += fmt::format(" and {} more", best.size() - kNamed);
  return fmt::format("{} of them share the highest lower end of the 95% interval, {} points{} ({})",
                     best.size(), points_text(worst_change(*best[0])), flips_of(best), names);
}

}  // namespace

std::string choice_verdict(const FormatStudy& study) {
  const std::size_t count = study.results.size();
  const std::string of = fmt::format("Of {} format{}, ", count, count == 1 ? "" : "s"),
                    within = fmt::format("to keep the {} within {:.2f} points",
                                         study.choice.baseline.evaluation.metric.text,
                                         100 * kDefaultMargin),
                    basis = fmt::format(
                        "; on {}{}.", study.choice.made_on(),
                        count > 1
                            ? fmt::format(
                                  " (verdicts with Holm's correction for {}, intervals without)",
                                  count)
                            : "");
  if (!study.chosen)
    return fmt::format("{}none is shown {}; {}{}", of, within, least_text(least_at_worst(study)),
                       basis);
  const FormatResult& chosen = study.results[*study.chosen];
  return fmt::format("{}{} needs the fewest bits ({:.4g} per weight) of those shown {}: {}{}", of,
                     chosen.choice.label, chosen.model.average_weight_bits, within,
                     change_sentence(*chosen.model.comparison), basis);
}

std::vector<std::string> choice_findings(const FormatStudy& study) {
  std::vector<std::string> lines;
  if (!study.chosen) {
    const std::vector<const FormatResult*> best = least_at_worst(study);
    lines.push_back((best.size() > 1 ? "The least noisy of them, " : "") +
                    finding(best[0]->model, study.choice.made_on()));
  }
  const std::vector<std::string> reported = reported_findings(study.choice);
  lines.insert(lines.end(), reported.begin(), reported.end());
  return lines;
}

const Fields& fields_of(const FormatChoiceResult*) {
  using F = FormatChoiceResult;
  static const Fields fields = describe<F>(
      "format_choice", "A choice of formats for all linear layers of a model.",
      field<&F::format>("format", "The choice: FORMAT, or WEIGHTS/INPUTS."),
      field<&F::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&F::arithmetic>("arithmetic", kArithmeticMeaning), inlined<&F::measured>(),
      field<&F::comparison>("comparison",
                            "Compared with the baseline; null: this is the baseline."),
      field<&F::packed_bytes>("packed_bytes", Unit::bytes,
                              "Of all parameters, if packed; null: the baseline."),
      field<&F::weight_snr_db>("weight_snr_db", Unit::decibels,
                               "Of weights, the mean over the layers, each alone; null: not "
                               "quantized, or nothing is lost.")
          .or_null(),
      field<&F::input_snr_db>("input_snr_db", Unit::decibels, "The same of inputs.").or_null(),
      field<&F::output_snr_db>("output_snr_db", Unit::decibels, "The same of outputs.").or_null());
  return fields;
}

std::vector<FormatChoiceResult> format_choices(const FormatStudy& study,
                                               const std::vector<std::string>& labels) {
  std::vector<FormatChoiceResult> rows;
  const auto add = [&](const ComparedModel& model, const std::vector<OperandNoise>& noise) {
    MeasuredModelResult measured = measured_model(model, labels);
    NamedMetrics& metrics = measured.metrics;
    rows.push_back({.format = std::move(metrics.model),
                    .average_weight_bits = metrics.average_weight_bits,
                    .arithmetic = std::move(metrics.arithmetic),
                    .measured = std::move(metrics.measured),
                    .comparison = std::move(measured.comparison),
                    .weight_snr_db = mean_snr_db(noise, Operand::weight),
                    .input_snr_db = mean_snr_db(noise, Operand::input),
                    .output_snr_db = mean_snr_db(noise, Operand::output)});
  };
  add(baseline_row(study.choice, study.choice.baseline), {});
  for (const FormatResult& r : study.results) {
    add(r.model, r.noise);
    rows.back().packed_bytes = static_cast<std::int64_t>(std::ceil(r.bytes));
  }
  return rows;
}

namespace {

double bits_of(const FormatResult& result) { return result.model.average_weight_bits; }
double snr_of(const FormatResult& result) { return result.model.comparison->snr_db; }
bool has_finite_snr(const FormatResult& result) { return std::isfinite(snr_of(result)); }

std::string without_place(const std::vector<FormatResult>& results) {
  std::vector<std::string> names;
  for (const FormatResult& result : results)
    if (!has_finite_snr(result)) names.push_back(result.choice.label);
  if (names.empty()) return "";
  return fmt::format("Not in the figure, because their margin SNR is not finite: {}.",
                     fmt::join(names, ", "));
}

Point point_of(const FormatResult& result) {
  Point point{bits_of(result), snr_of(result)};
  point.name = result.choice.label;
  return point;
}

// Returns the formats that no other beats in bits or margin SNR without losing in the other.
std::vector<Point> pareto_front(const std::vector<FormatResult>& results) {
  std::vector<Point> points, front;
  for (const FormatResult& result : results)
    if (has_finite_snr(result)) points.push_back(point_of(result));
  std::ranges::stable_sort(points, {}, [](const Point& p) { return std::pair(p.x, -p.y); });
  for (const Point& point : points)
    if (front.empty() || point.y > front.back().y) front.push_back(point);
  return front;
}

std::string snr_name(const FormatStudy& study) {
  return study.choice.baseline.evaluation.metric == kAccuracy ? "margin SNR" : "output SNR";
}

Figure front_figure(const FormatStudy& study) {
  Panel panel{.x = {.label = "Bits per weight", .logarithmic = true},
              .y = {.label = snr_name(study) + " (dB)"}};
  panel.y.label[0] -= 'a' - 'A';
  for (const int bits : {1, 2, 4, 8, 16, 32})
    panel.x.ticks.push_back({static_cast<double>(bits), std::to_string(bits)});
  panel.series.push_back({.label = "Pareto front",
                          .points = pareto_front(study.results),
                          .draw = Draw::edge,
                          .with_names = true,
                          .tone = Tone::quiet});
  const std::pair<Conclusion, Tone> verdicts[] = {{Conclusion::within_limit, Tone::good},
                                                  {Conclusion::inconclusive, Tone::unclear},
                                                  {Conclusion::exceeds_limit, Tone::bad}};
  for (const auto& [conclusion, tone] : verdicts) {
    Series series{
        .label = to_string(conclusion), .draw = Draw::points, .with_names = true, .tone = tone};
    for (const FormatResult& result : study.results)
      if (has_finite_snr(result) && result.model.verdict->conclusion == conclusion)
        series.points.push_back(point_of(result));
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return {.title = fmt::format("Bits against {}, simulated; {}; one seed", snr_name(study),
                               study.choice.made_on()),
          .panels = {panel},
          .width = 1000,
          .height = 600};
}

constexpr const char* kNote =
    "Weights, inputs and outputs (dB): signal-to-noise ratio of each layer alone, from the mean "
    "noise over the layers. All other columns are of the whole model.";

}  // namespace

void fill_document(const FormatStudy& study, Document& document) {
  const std::string limit = fmt::format("{:g} points of the baseline's {}", 100 * kDefaultMargin,
                                        study.choice.baseline.evaluation.metric.text);
  document.evidence = fmt::format("{}", fmt::join(choice_findings(study), " "));
  if (!study.chosen) {
    document.tone = Tone::unclear;
    document.headline =
        study.results.size() == 1
            ? fmt::format("{} is not shown to be within {}", study.results[0].choice.label, limit)
            : fmt::format("None of {} formats is shown to be within {}", study.results.size(),
                          limit);
    return;
  }
  const FormatResult& chosen = study.results[*study.chosen];
  document.tone = Tone::good;
  document.headline = fmt::format("{} needs the fewest bits ({:.4g} per weight) within {}",
                                  chosen.choice.label, chosen.model.average_weight_bits, limit);
  document.key_figures = chosen_facts(study.choice, {&chosen.model});
}

Section choice_section(const FormatStudy& study, const std::optional<fs::path>& stem,
                       std::vector<std::string>& notes) {
  Section section{"", {PageTable{choice_table(study), candidates_caption(study.choice) + "."}}};
  if (study.choice.warning.empty()) section.blocks.push_back(reported_block(study.choice));
  if (!stem || std::ranges::count_if(study.results, has_finite_snr) < 2) return section;
  section.blocks.push_back(figure_block(
      front_figure(study), *stem,
      "Margin signal-to-noise ratio against bits per weight, a point for each format, and the "
      "Pareto front; the table has the numbers.",
      notes));
  const std::string exact = without_place(study.results);
  if (!exact.empty()) section.blocks.push_back(Paragraph{exact});
  return section;
}

Section choice_reading(const FormatStudy& study) {
  Section section{"How to read this", {Paragraph{choice_verdict(study)}, Paragraph{kNote}}};
  section.folded = true;
  section.blocks.push_back(Paragraph{
      "Every format is simulated: values are rounded, and products are computed in fp32. One "
      "random seed."});
  return section;
}

const Fields& fields_of(const FormatLayerResult*) {
  using F = FormatLayerResult;
  static const Fields fields = describe<F>(
      "format_layer", "A layer in a choice of formats.",
      field<&F::layer>("layer", "Name of the layer."), field<&F::format>("format", "The choice."),
      field<&F::weight_snr_db>("weight_snr_db", Unit::decibels,
                               "Of its weights; null: not quantized, or nothing is lost.")
          .or_null(),
      field<&F::input_snr_db>("input_snr_db", Unit::decibels, "Of its inputs.").or_null(),
      field<&F::output_snr_db>("output_snr_db", Unit::decibels, "Of its outputs.").or_null());
  return fields;
}

std::vector<FormatLayerResult> format_layers(const std::vector<FormatResult>& results) {
  std::vector<std::string> layers;
  for (const FormatResult& result : results)
    for (const OperandNoise& one : result.noise)
      if (std::ranges::find(layers, one.layer) == layers.end()) layers.push_back(one.layer);
  std::vector<FormatLayerResult> rows;
  for (const std::string& layer : layers)
    for (const FormatResult& r : results)
      rows.push_back({.layer = layer,
                      .format = r.choice.label,
                      .weight_snr_db = snr_of_layer(r.noise, layer, Operand::weight),
                      .input_snr_db = snr_of_layer(r.noise, layer, Operand::input),
                      .output_snr_db = snr_of_layer(r.noise, layer, Operand::output)});
  return rows;
}

Table layer_table(const std::vector<FormatResult>& results) {
  Table table({{"layer", "Layer"},
               {"format", "Format"},
               {"weight_snr_db", "Weights (dB)"},
               {"input_snr_db", "Inputs (dB)"},
               {"output_snr_db", "Outputs (dB)"}});
  for (const FormatLayerResult& row : format_layers(results))
    table.add_row({row.layer, row.format, snr_cell(row.weight_snr_db), snr_cell(row.input_snr_db),
                   snr_cell(row.output_snr_db)});
  return table;
}

}  // namespace hone
