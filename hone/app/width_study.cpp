#include "hone/app/width_study.h"

#include <algorithm>
#include <functional>

#include "hone/base/text.h"

namespace hone {
namespace {

std::string format_text(const FixedPointWidth& width) {
  return fmt::format("integer(width={},frac={})", width.width, width.frac);
}

ComparedModel quantize_and_measure(const Model& parent, const Measurement& before,
                                   const EncodedSplits& data, std::int32_t pad_id,
                                   const CompressOptions& options, Context& context) {
  const Model model = compress(parent, data, pad_id, options, context);
  const std::string label =
      fmt::format("{} {}", options.qat ? "QAT" : "PTQ", summary(options.plan));
  Measurement after =
      measure(model, data.test, pad_id, options.fine_tune.eval_batch_size, context, label);
  const Comparison comparison = compare(before.view(), after.view(), data.test.labels);
  return {label, average_weight_bits(model, context), std::move(after), comparison};
}

std::vector<Point> curve(const std::vector<WidthResult>& results,
                         const std::function<Point(const WidthResult&)>& point) {
  std::vector<Point> points;
  for (const WidthResult& result : results) points.push_back(point(result));
  return points;
}

Point accuracy_point(const WidthResult& result, const ComparedModel& model) {
  const Evaluation& e = model.measurement.evaluation;
  return {static_cast<double>(result.width.width), 100 * e.accuracy, 100 * e.accuracy_interval.low,
          100 * e.accuracy_interval.high};
}

Point flip_point(const WidthResult& result, const ComparedModel& model) {
  return {static_cast<double>(result.width.width), 100 * model.comparison->flip_share};
}

Figure width_figure(const std::vector<WidthResult>& results, const Measurement& parent) {
  Axis width{.label = "Format (width.fraction, bits)"};
  for (const WidthResult& result : results) {
    width.ticks.push_back({static_cast<double>(result.width.width),
                           fmt::format("{}.{}", result.width.width, result.width.frac)});
  }
  const auto ptq = [](auto point) {
    return [point](const WidthResult& r) { return point(r, r.ptq); };
  };
  const auto qat = [](auto point) {
    return [point](const WidthResult& r) { return point(r, r.qat); };
  };
  const Panel accuracy{.title = "Accuracy",
                       .x = width,
                       .y = {.label = "Accuracy (%)"},
                       .series = {{.label = "after training (PTQ)",
                                   .points = curve(results, ptq(accuracy_point)),
                                   .spread = Spread::bars},
                                  {.label = "with training (QAT)",
                                   .points = curve(results, qat(accuracy_point)),
                                   .spread = Spread::bars}},
                       .references = {{100 * parent.evaluation.accuracy, "fp32"}}};
  const Panel flips{
      .title = "Flips against fp32",
      .x = width,
      .y = {.label = "Flips (%)", .logarithmic = true},
      .series = {{.label = "after training (PTQ)", .points = curve(results, ptq(flip_point))},
                 {.label = "with training (QAT)", .points = curve(results, qat(flip_point))}}};
  return {.title = "Fixed point, simulated; one seed", .panels = {accuracy, flips}, .width = 1000};
}

// "from 8.4 on", "at no width".
std::string holding_from(std::vector<WidthResult> results, ComparedModel WidthResult::*model) {
  std::ranges::sort(results, std::greater(), [](const WidthResult& r) { return r.width.width; });
  const WidthResult* last = nullptr;
  for (const WidthResult& result : results) {
    if (!verdict(*(result.*model).comparison).kept()) break;
    last = &result;
  }
  return last == nullptr ? "at no width"
                         : fmt::format("from {}.{} on", last->width.width, last->width.frac);
}

}  // namespace

std::vector<WidthResult> study_widths(const Model& parent, const Measurement& parent_measurement,
                                      const EncodedSplits& data, std::int32_t pad_id,
                                      const WidthStudyOptions& options, Context& context) {
  std::vector<WidthResult> results;
  for (const FixedPointWidth& width : options.widths) {
    const Format format = parse_format(format_text(width), context.library.formats);
    CompressOptions compression{.plan = one_format(parent, format, context),
                                .fine_tune = options.qat};
    compression.calibration.seed = options.qat.training.seed;
    compression.fine_tune.title = fmt::format("QAT {}.{}", width.width, width.frac);
    if (options.checkpoints_of)
      compression.fine_tune.checkpoints =
          options.checkpoints_of(fmt::format("qat-{}.{}", width.width, width.frac));
    ComparedModel ptq =
        quantize_and_measure(parent, parent_measurement, data, pad_id, compression, context);
    compression.qat = true;
    ComparedModel qat =
        quantize_and_measure(parent, parent_measurement, data, pad_id, compression, context);
    results.push_back({width, std::move(ptq), std::move(qat)});
  }
  return results;
}

std::vector<ComparedModel> compared_models(const std::vector<WidthResult>& results,
                                           const Measurement& parent) {
  std::vector<ComparedModel> models = {{"fp32", 32, parent, std::nullopt, /*quantized=*/false}};
  for (const WidthResult& result : results) {
    models.push_back(result.ptq);
    models.push_back(result.qat);
  }
  return models;
}

Table width_table(const std::vector<WidthResult>& results, const Measurement& parent) {
  return comparison_table(compared_models(results, parent));
}

Json widths_json(const std::vector<WidthResult>& results, const Measurement& parent,
                 const std::vector<std::string>& labels) {
  Json models = Json::array();
  for (const ComparedModel& model : compared_models(results, parent))
    models.push_back(to_json(model, labels));
  return {{"models", models}, {"seeds", 1}};
}

std::string width_verdict(const std::vector<WidthResult>& results) {
  return fmt::format("Fixed point keeps the accuracy {} by rounding alone, {} with training.",
                     holding_from(results, &WidthResult::ptq),
                     holding_from(results, &WidthResult::qat));
}

Section width_section(const std::vector<WidthResult>& results, const Measurement& parent,
                      const fs::path& stem, std::vector<std::string>& notes) {
  const std::string examples = grouped(static_cast<long long>(parent.evaluation.examples));
  return {"Accuracy and flips",
          {figure_block(width_figure(results, parent), stem,
                        "Accuracy and flips against the width of fixed point, one curve for "
                        "quantization after training and one for training with it; the table has "
                        "the figures.",
                        notes),
           PageTable{width_table(results, parent),
                     fmt::format("On {} texts. Flips: predictions that differ from fp32's; "
                                 "McNemar's test is on those of them that change what is right. "
                                 "Kept: not worse by half a point or more.",
                                 examples)}}};
}

}  // namespace hone
