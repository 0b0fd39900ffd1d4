#include "hone/jobs/before_and_after.h"

#include "hone/base/text.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/train/text_examples.h"

namespace hone {

Measurement measure_before(const TextModel& parent, const EncodedSplits& data,
                           std::int64_t batch_size, Context& context,
                           std::vector<std::string>& notes, std::string_view change) {
  Measurement before = measure(parent.model, data.test, batch_size, context,
                               "baseline, " + data.measured.facts.part);
  std::vector<std::string> doubts;
  for (const std::string& concern : concerns(before.evaluation, parent.model.facts.labels))
    doubts.push_back(fmt::format("before {}, {}", change, concern));
  tell_warnings(context, doubts);
  notes.insert(notes.end(), doubts.begin(), doubts.end());
  return before;
}

std::vector<Gate> gates_of(const GateOptions& options, const Model& model,
                           const std::string& name) {
  user_check(!model.fresh_head() || !options.any(),
             "`max_drop`, `gate`: {} has no classification head, so there are no answers to judge; "
             "leave them out, or train a head first with `hone train`",
             name);
  return gates_for(options, model.facts.scheme());
}

BeforeAndAfter measure_after(const Model& model, const Measurement& before,
                             const EncodedSplits& data, std::int64_t batch_size,
                             const std::vector<Gate>& gates, Context& context,
                             const std::string& title) {
  BeforeAndAfter both{.before = before,
                      .after = measure(model, data.test, batch_size, context, title),
                      .comparison = {},
                      .verdict = {}};
  const Truth truth = truth_of(data.test);
  both.comparison = compare(before.view(), both.after.view(), truth);
  both.verdict = verdict(both.comparison.change, margin_for(gates, both.comparison.change.figure));
  both.gates = judge(gates, before.view(), both.after.view(), truth);
  both.lost = lost_classes(before.view(), both.after.view(), truth);
  return both;
}

void describe_change(Document& document, const std::string& label, const BeforeAndAfter& both,
                     const MeasuredPart& part) {
  const TaskEvaluation &before = both.before.evaluation, &after = both.after.evaluation;
  document.tone = tone_of(both.verdict);
  document.headline =
      fmt::format("{}: {}", label, change_headline(before.value, after.value, both.verdict));
  document.key_figures = {change_figure(before, after), flips_figure(both.comparison)};
  document.evidence =
      fmt::format("{}: {}.", capitalized(name_and_size(part)), both.verdict.summary);
}

Json to_json(const BeforeAndAfter& both, const std::vector<std::string>& labels) {
  Json json = {{"before", to_json(both.before, labels)},
               {"after", to_json(both.after, labels)},
               {"comparison", to_json(both.comparison, both.verdict)}};
  if (!both.lost.empty()) json["lost_classes"] = to_json(both.lost, labels);
  if (both.gates.any()) json["gate"] = to_json(both.gates);
  return json;
}

std::vector<std::string> concerns(const BeforeAndAfter& both,
                                  const std::vector<std::string>& labels, std::string_view change) {
  std::vector<std::string> sentences = concerns(both.after.evaluation, labels);
  for (std::string& sentence : lost_class_sentences(both.lost, labels))
    sentences.push_back(std::move(sentence));
  for (std::string& sentence : sentences) sentence = fmt::format("after {}, {}", change, sentence);
  return sentences;
}

std::vector<NamedFigures> before_and_after_figures(const EncodedSplits& data) {
  const std::string& measured = data.measured.facts.part;
  const std::vector<std::string> doubts = cautions(data.measured);
  return {{"before", "baseline, " + measured, doubts},
          {"after", "compressed, " + measured, doubts}};
}

std::vector<NamedEvaluation> named_evaluations(const BeforeAndAfter& both,
                                               const EncodedSplits& data) {
  const std::vector<NamedFigures> figures = before_and_after_figures(data);
  return {{figures[0].name, both.before.evaluation, figures[0].cautions},
          {figures[1].name, both.after.evaluation, figures[1].cautions}};
}

std::string headless_remark(const Model& parent, bool trained) {
  if (!parent.fresh_head()) return "";
  return trained ? "the baseline has no classification head: its numbers are those of a random "
                   "head, which training started from"
                 : "the model has no classification head: all numbers are those of a random head "
                   "and say nothing about its embeddings";
}

std::string training_caveat(std::int64_t least_steps, std::int64_t most_steps,
                            std::string_view done) {
  if (most_steps == 0) return "";
  return fmt::format(
      "The compressed model was trained for {}{} step{} more than the baseline, and no fp32 model "
      "was trained equally long: the change combines training and {}.",
      least_steps == most_steps ? "" : grouped(least_steps) + " to ", grouped(most_steps),
      most_steps == 1 ? "" : "s", done);
}

std::string figures_caption(const Measurement& before, const EncodedSplits& data,
                            const std::vector<std::string>& remarks) {
  std::string text =
      fmt::format("On {}; {}.", name_and_size(data.measured), baseline_text(before.evaluation));
  for (const std::string& remark : remarks)
    if (!remark.empty()) text += " " + remark;
  return text;
}

}  // namespace hone
