#include "hone/jobs/train_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/study/comparison_table.h"
#include "hone/study/learning_check.h"

namespace hone {

std::string weights_text(const TrainFields& fields) {
  return fields.lora ? to_text(*fields.lora) : to_text(fields.size);
}

CardFacts card_facts(const TrainFields& fields) {
  CardFacts facts =
      facts_of_training(fields.subject, fields.seed, fields.steps, fields.weights_of_step);
  // Under the original protocol both splits have the same examples.
  if (fields.validation && fields.protocol != to_string(Protocol::original))
    facts.rows.push_back({"", fields.validation->evaluation, fields.validation->split});
  if (fields.test) facts.rows.push_back({"", fields.test->evaluation, fields.test->split});
  if (!fields.lora) return facts;
  const std::string base = markdown_code(fields.subject.model);
  facts.origin = fmt::format("an adapter (LoRA) of {}", base);
  facts.relation = "adapter";
  facts.tags = {"lora"};
  facts.library = "peft";
  facts.weights = {
      fmt::format("It works only with the model that it was trained on, {}; base.json contains a "
                  "fingerprint of that model's weights. Use both with `hone predict MODEL "
                  "--adapter FOLDER` or PEFT, or merge them with `hone lora merge`.",
                  base)};
  return facts;
}

namespace {

constexpr const char* kNothingMeasured =
    "Trained, not evaluated: there is neither a test nor a validation split.";

// Removes the cautions that both splits share, and returns them.
std::vector<std::string> take_common_cautions(std::vector<NamedEvaluation>& measured) {
  std::vector<std::string> common;
  if (measured.size() < 2) return common;
  const auto is_in = [](const std::vector<std::string>& cautions, const std::string& caution) {
    return std::ranges::find(cautions, caution) != cautions.end();
  };
  for (const std::string& caution : measured[0].cautions)
    if (is_in(measured[1].cautions, caution)) common.push_back(caution);
  for (NamedEvaluation& one : measured)
    std::erase_if(one.cautions, [&](const std::string& caution) { return is_in(common, caution); });
  return common;
}

// Returns a row for each measured split.
Table results_table(const std::vector<NamedEvaluation>& measured) {
  const MetricName& figure = measured.front().evaluation.metric;
  Table table(
      {{"split", "Split"},
       {"examples", "Examples"},
       {figure.key, metric_title(figure)},
       figure == kAccuracy ? Column{"majority_share", "Majority"} : Column{"baseline", "Baseline"},
       {"loss", "Loss"}});
  for (const auto& [split, e, cautions, lost] : measured) {
    std::string name = split;
    for (const std::string& caution : cautions) name += ", " + caution;
    table.add_row(
        {name, e.examples, metric_cell(e), percent(e.constant_baseline), real(e.loss, 4)});
  }
  return table;
}

// "Before training, on test, n = 2,000: accuracy 81.9% (80.2 to 83.5)."
std::string before_text(const TrainFields& fields) {
  const auto& [before, split] = *fields.before;
  return fmt::format("Before training, on {}: {} {}{}",
                     split_text(split.split, before.samples, before.effective_samples),
                     metric_title(before.metric), display_text(metric_estimate(to_json(before))),
                     *fields.before_fresh_head ? ", with a random head." : ".");
}

std::string_view gap_meaning(const Interval& gap, const TrainJob& job) {
  if (gap.low <= 0 && gap.high >= 0) return "no difference shown";
  if (gap.low > 0 && job.training.selects_checkpoint())
    return "as the weights were chosen on validation, or its examples are easier";
  return gap.low > 0 ? "as if the validation examples were easier"
                     : "as if the test examples were easier";
}

// "Trained for 500 steps in 1:29; the model has the weights of step 400"
std::string choice_text(const TrainJob& job, const TrainOutcome& trained) {
  const TrainFields& fields = trained.fields;
  std::string text = fmt::format("Trained for {} in {}; the model has the weights of step {}",
                                 counted_text(fields.steps, "step"),
                                 clock_text(fields.train_runtime), grouped(fields.weights_of_step));
  if (fields.ended_early) text += "; stopped early, as no evaluation improved";
  if (const std::optional<BetterEvaluation>& better = trained.better)
    text += fmt::format(
        "; the best evaluation on validation was {} at step {}{}; {} keeps its weights",
        better->text, grouped(better->step),
        better->is_stored ? fmt::format(" (stored as checkpoint-{})", better->step) : "",
        job.invocation.setting("load_best_model_at_end"));
  if (const std::optional<Interval>& interval = fields.validation_test_gap_interval)
    text += fmt::format("; accuracy on validation minus test: {} points (95% CI {} to {}), {}",
                        points_text(*fields.validation_test_gap), points_text(interval->low),
                        points_text(interval->high), gap_meaning(*interval, job));
  if (fields.class_weights) text += "; class weights apply to the training loss only";
  if (job.training.training.label_smoothing_factor > 0)
    text += "; label smoothing applies to the training loss only";
  if (const std::string distilled = to_text(job.distill); !distilled.empty())
    text += "; " + distilled;
  if (fields.protocol == to_string(Protocol::original))
    text += "; protocol original: choices were made on the test split, so its result is too good";
  return text;
}

// Lists doubts about the metrics.
std::vector<std::string> doubts_about(const TrainOutcome& trained, const std::string& guessed) {
  std::vector<std::string> doubts;
  if (trained.measured.empty()) return doubts;
  const NamedEvaluation& last = trained.measured.back();
  for (const NamedEvaluation& one : trained.measured)
    for (const std::string& concern : concerns(one.evaluation, trained.labels))
      // For the last split, the signs below say that and more.
      if (&one != &last || concern != constant_baseline_concern(one.evaluation))
        doubts.push_back(fmt::format("{}: {}", one.name, concern));
  for (std::string& sign : signs_of_no_learning(trained.log.steps(), last.name, last.evaluation,
                                                trained.labels, guessed))
    doubts.push_back(std::move(sign));
  return doubts;
}

}  // namespace

std::vector<std::string> report_training(const TrainJob& job, TrainOutcome trained,
                                         const std::string& guessed, Document& document) {
  const TrainFields& fields = trained.fields;
  std::vector<NamedEvaluation>& measured = trained.measured;
  document.headline = kNothingMeasured;
  document.key_figures = {
      {"Mean training loss", display_text(real(fields.train_loss, 4))},
      {"Throughput",
       fmt::format("{} examples/s", grouped(std::llround(fields.train_samples_per_second)))}};
  document.evidence = choice_text(job, trained) + ".";
  document.sections = {{"", {}}, trained.curve};
  std::vector<Block> blocks;
  if (!measured.empty()) {
    const TaskEvaluation& last = measured.back().evaluation;
    document.headline = metric_headline(trained.judged_on, last);
    if (last.unseen) document.evidence = unseen_sentence(last) + " " + document.evidence;
    const std::vector<std::string> common = take_common_cautions(measured);
    blocks.push_back(
        PageTable{results_table(measured),
                  common.empty() ? "" : fmt::format("Both splits: {}.", fmt::join(common, ", "))});
    document.sections.push_back(details_section(measured, trained.labels));
  }
  if (fields.before) blocks.push_back(Paragraph{before_text(fields)});
  blocks.push_back(Paragraph{weights_text(fields)});
  document.sections.front().blocks = std::move(blocks);
  std::vector<std::string> warnings = doubts_about(trained, guessed);
  warnings.insert(warnings.end(), trained.notes.begin(), trained.notes.end());
  return warnings;
}

std::vector<std::string> report_training(const TrainJob& job, const std::vector<Json>& results,
                                         const std::string& guessed, const fs::path& folder,
                                         Document& document) {
  const std::vector<MetricsKey> figures = {{"validation", "validation"}, {"test", "test"}};
  std::vector<std::string> warnings = seed_concerns(results, figures), figure_notes;
  std::vector<Block> blocks = {PageTable{seed_table(results, figures)}};
  std::vector<std::string> measured;  // the split that judges the training comes first
  for (const char* split : {"test", "validation"})
    if (value_at(results.front(), split).is_object()) measured.emplace_back(split);
  document.headline = kNothingMeasured;
  for (const std::string& split : measured) {
    const std::string sentence = metric_headline_of_seeds(results, {split, split});
    if (split == measured.front())
      document.headline = sentence;
    else
      blocks.push_back(Paragraph{sentence});
  }
  if (!measured.empty()) {
    const std::string& split = measured.front();
    const Figure dots = seed_figure(results, figures,
                                    fmt::format("{} trained; {} seeds", job.model, results.size()));
    blocks.push_back(figure_block(dots, folder / "seeds",
                                  metric_title(main_metric_of(results.front()[split])) +
                                      " on each split, a dot for each seed",
                                  figure_notes));
    for (std::string& sign : signs_of_no_learning(results, {split, split}, guessed))
      warnings.push_back(std::move(sign));
  }
  document.sections = {{"", std::move(blocks)}, details_section_of_seeds(results, figures)};
  warnings.insert(warnings.end(), figure_notes.begin(), figure_notes.end());
  return warnings;
}

}  // namespace hone
