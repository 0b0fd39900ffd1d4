#include "hone/jobs/width_study.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "hone/base/text.h"
#include "hone/jobs/candidate_curve.h"

namespace hone {

std::string to_string(const FixedPointWidth& width) {
  return fmt::format("{}.{}", width.width, width.frac);
}

namespace {

// The order of the tests is fixed before any measurement.
std::vector<std::size_t> widest_first(const std::vector<FixedPointWidth>& widths) {
  std::vector<std::size_t> order(widths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return std::tuple(widths[i].width, widths[i].frac);
  });
  return order;
}

Format format_of(const FixedPointWidth& width, const Context& context) {
  return parse_format(fmt::format("integer(width={},frac={})", width.width, width.frac),
                      context.library.formats);
}

void judge(std::vector<WidthResult>& results, const std::vector<std::size_t>& order,
           ComparedModel WidthResult::*model) {
  std::vector<ComparedModel*> candidates;
  for (const std::size_t i : order) candidates.push_back(&(results[i].*model));
  judge_in_sequence(candidates);
}

CandidateCurve curve(const std::vector<WidthResult>& results, const std::string& label,
                     ComparedModel WidthResult::*model) {
  CandidateCurve curve{label, {}};
  for (const WidthResult& result : results)
    curve.points.push_back({static_cast<double>(result.width.width), &(result.*model)});
  return curve;
}

Figure width_figure(const WidthStudy& study) {
  const std::vector<WidthResult>& results = study.results;
  Axis width{.label = "Format (width.fraction, bits)"};
  for (const WidthResult& result : results)
    width.ticks.push_back({static_cast<double>(result.width.width), to_string(result.width)});
  return candidate_figure(
      fmt::format("Fixed point, simulated; {}; one seed", study.choice.made_on()), study.choice,
      "fp32", width,
      {curve(results, "rounding alone (PTQ)", &WidthResult::ptq),
       curve(results, "with training (QAT)", &WidthResult::qat)});
}

std::size_t widest(const WidthStudy& study) {
  std::vector<FixedPointWidth> widths;
  for (const WidthResult& result : study.results) widths.push_back(result.width);
  return widest_first(widths).front();
}

// "from 8.4 on with training (8.4: +0.02 points, 95%: …)": the narrowest width within the limit, or the widest, which
// is not.
std::string width_sentence(const WidthStudy& study, const std::optional<std::size_t>& kept,
                           ComparedModel WidthResult::*model, const char* method) {
  const WidthResult& shown = study.results[kept.value_or(widest(study))];
  const std::string width = to_string(shown.width);
  const std::string where = !kept                   ? "at no width"
                            : kept == widest(study) ? fmt::format("at {}, the widest,", width)
                                                    : fmt::format("from {} on", width);
  return fmt::format("{} {} ({}: {})", where, method, width,
                     change_sentence(*(shown.*model).comparison));
}

}  // namespace

WidthStudy study_widths(const Model& baseline, const EncodedSplits& data,
                        const WidthStudyOptions& options, Context& context) {
  const std::int64_t batch_size = options.qat.eval_batch_size;
  const EncodedSet& examples = choice_split(data).examples;
  WidthStudy study{.choice = begin_choice(baseline, data, batch_size, context),
                   .results = std::vector<WidthResult>(options.widths.size()),
                   .narrowest_ptq = {},
                   .narrowest_qat = {}};
  // Every width is evaluated after training; evaluations in between would only take time, unless they select weights.
  EncodedSplits learned_from = data;
  if (!options.qat.selects_checkpoint()) learned_from.validation = {};
  const std::vector<std::size_t> order = widest_first(options.widths);
  SequentialSelection ptq, qat;
  for (const std::size_t index : order) {
    WidthResult& result = study.results[index];
    result.width = options.widths[index];
    const std::string name = to_string(result.width);
    CompressOptions compression{
        .plan = plan_with_format(baseline, format_of(result.width, context)),
        .fine_tune = options.qat};
    compression.calibration.seed = options.qat.training.seed;
    compression.fine_tune.title = "QAT " + name;
    if (options.checkpoints_of)
      compression.fine_tune.checkpoints = options.checkpoints_of("qat-" + name);
    const auto consider = [&](SequentialSelection& selection, ComparedModel& row,
                              const char* method) {
      const Model model = compress(baseline, learned_from, compression, context);
      row = compared(model, fmt::format("{} {}", method, summary(compression.plan)),
                     study.choice.baseline, examples, batch_size, context);
      selection.consider(index, model, row);
    };
    consider(ptq, result.ptq, "PTQ");
    compression.qat = true;
    consider(qat, result.qat, "QAT");
  }
  judge(study.results, order, &WidthResult::ptq);
  judge(study.results, order, &WidthResult::qat);
  study.narrowest_ptq = ptq.kept;
  study.narrowest_qat = qat.kept;
  std::vector<ChosenModel> chosen;
  if (ptq.kept) chosen.push_back({study.results[*ptq.kept].ptq.label, &*ptq.model});
  if (qat.kept) chosen.push_back({study.results[*qat.kept].qat.label, &*qat.model});
  report_chosen(study.choice, chosen, baseline, data, batch_size, context);
  return study;
}

std::vector<ComparedModel> compared_models(const WidthStudy& study) {
  std::vector<ComparedModel> rows = {baseline_row(study.choice, study.choice.baseline)};
  for (const WidthResult& result : study.results) {
    rows.push_back(result.ptq);
    rows.push_back(result.qat);
  }
  return rows;
}

namespace {

std::vector<const ComparedModel*> chosen_models(const WidthStudy& study) {
  std::vector<const ComparedModel*> chosen;
  if (study.narrowest_ptq) chosen.push_back(&study.results[*study.narrowest_ptq].ptq);
  if (study.narrowest_qat) chosen.push_back(&study.results[*study.narrowest_qat].qat);
  return chosen;
}

}  // namespace

std::vector<NamedEvaluation> chosen_evaluations(const WidthStudy& study) {
  return chosen_evaluations(study.choice, chosen_models(study));
}

Table width_table(const WidthStudy& study) { return comparison_table(compared_models(study)); }

std::string width_verdict(const WidthStudy& study) {
  return fmt::format(
      "Fixed point is shown to keep the {} within {:.2f} points {} and {}; on {}.",
      study.choice.baseline.evaluation.metric.text, 100 * kDefaultMargin,
      width_sentence(study, study.narrowest_ptq, &WidthResult::ptq, "by rounding alone"),
      width_sentence(study, study.narrowest_qat, &WidthResult::qat, "with training"),
      study.choice.made_on());
}

std::vector<std::string> width_findings(const WidthStudy& study) {
  std::vector<std::string> lines;
  const WidthResult& first = study.results[widest(study)];
  const auto not_kept = [&](const char* method, const ComparedModel& model) {
    lines.push_back(
        fmt::format("{}, the widest ({}) is not shown to be within the limit on {}: {}.", method,
                    to_string(first.width), study.choice.made_on(), model.verdict->summary));
  };
  if (!study.narrowest_ptq) not_kept("By rounding alone", first.ptq);
  if (!study.narrowest_qat) not_kept("With training", first.qat);
  const std::vector<std::string> reported = reported_findings(study.choice);
  lines.insert(lines.end(), reported.begin(), reported.end());
  return lines;
}

namespace {

// "Fixed point is within 0.5 points of the baseline's accuracy from 8.4 on with PTQ, at no width with QAT".
std::string headline_of(const WidthStudy& study) {
  const std::string limit = fmt::format("{:g} points of the baseline's {}", 100 * kDefaultMargin,
                                        study.choice.baseline.evaluation.metric.text);
  if (!study.narrowest_ptq && !study.narrowest_qat)
    return fmt::format("No width of fixed point is shown to be within {}", limit);
  const auto from = [&](const std::optional<std::size_t>& kept, const char* method) {
    return kept ? fmt::format("from {} on with {}", to_string(study.results[*kept].width), method)
                : fmt::format("at no width with {}", method);
  };
  return fmt::format("Fixed point is within {} {}, {}", limit, from(study.narrowest_ptq, "PTQ"),
                     from(study.narrowest_qat, "QAT"));
}

}  // namespace

void fill_document(const WidthStudy& study, const fs::path& stem, Document& document,
                   std::vector<std::string>& notes) {
  document.headline = headline_of(study);
  document.tone = study.narrowest_ptq || study.narrowest_qat ? Tone::good : Tone::unclear;
  document.key_figures = chosen_facts(study.choice, chosen_models(study));
  document.evidence = fmt::format("{}", fmt::join(width_findings(study), " "));
  Section section{
      "",
      {candidate_page_table(width_table(study), study.choice, "fp32", "from the widest down"),
       figure_block(width_figure(study), stem,
                    candidate_figure_title(study.choice) +
                        " against the width of fixed point, one curve for rounding alone and one "
                        "for training; the table has the numbers.",
                    notes)}};
  if (study.choice.warning.empty()) section.blocks.push_back(reported_block(study.choice));
  document.sections.push_back(std::move(section));
}

}  // namespace hone
