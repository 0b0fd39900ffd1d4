#include "hone/jobs/shrink/shrink_report.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/export.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/shrink/shrink_advice.h"
#include "hone/jobs/shrink/shrink_figures.h"
#include "hone/jobs/shrink/shrink_result.h"
#include "hone/jobs/shrink/shrink_sentences.h"
#include "hone/jobs/shrink/shrink_tables.h"
#include "hone/jobs/summary_figure.h"
#include "hone/report/field_table.h"
#include "hone/report/inline_svg.h"
#include "hone/study/change_headline.h"
#include "hone/study/evaluation_details.h"

namespace hone {
namespace {

Section folded(const std::string& heading, const std::vector<std::string>& lines) {
  return {heading, paragraphs(lines), /*folded=*/true};
}

std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> parts) {
  std::vector<std::string> all;
  for (const std::vector<std::string>& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Headline, key figures and evidence.
void fill_document(const ShrinkFindings& f, const ShrunkModel& judged, Document& document) {
  const SizeAndTime& size_and_time = judged.size_and_time;
  describe_change(
      document, size_and_speed(size_and_time.size_before, size_and_time.size, size_and_time.times),
      judged.both, f.data.measured, /*separator=*/", ");
  prepend_key_figures(document, size_and_latency_facts(size_and_time));
  if (!f.proven)
    document.headline = fmt::format(
        "No candidate was shown to be within the limit. Most promising: {}", document.headline);
  if (f.chosen && f.proven && !judged.both.gates.verdict.within_limit())
    document.evidence += fmt::format(" The result on {} is not confirmed.", f.made_on());
  if (f.corrected_evaluations() > 1)
    document.evidence += fmt::format(
        " The candidate was chosen on these examples, so the change is optimistic; the verdict is "
        "corrected for up to {} evaluations.",
        f.job.max_evaluations);
  if (const std::string caveat = training_sentence(f); !caveat.empty())
    document.evidence += " " + caveat;
  if (const std::string tokens = removed_tokens_sentence(f); !tokens.empty())
    document.evidence += " " + tokens;
  if (std::string noise = noise_warning(size_and_time.times, size_and_time.models); !noise.empty())
    document.notes.push_back(std::move(noise));
}

std::vector<NextCommand> next_commands(const ShrinkFindings& f, const ShrunkModel& judged) {
  const std::string model = fmt::format("{}/{}", f.job.output.folder, f.judged_folder());
  const std::vector<NextCommand> helpful = suggested_commands(f);
  std::vector<NextCommand> next;
  if (!f.proven) next = helpful;
  const bool classes = f.subject.baseline.model.facts.task() != Task::regression;
  if (f.proven)
    next.push_back({classes ? "Classify a text" : "Predict for a text",
                    fmt::format("hone predict {} \"some text\"", shell_word(model))});
  next.push_back({"Compare it with the baseline on other data",
                  fmt::format("hone compare {} {} --data other.csv", shell_word(f.job.model),
                              shell_word(model))});
  for (const ModelTimes& one : judged.size_and_time.times)
    if (one.times.ratio().noisy())
      next.push_back({"Measure the latency again on an idle machine",
                      fmt::format("hone bench {} {}{}", shell_word(f.job.model), shell_word(model),
                                  bench_options(one))});
  // A model that is not shown to be within the limit should not be used.
  if (f.proven)
    next.push_back(
        command_to_export(model, f.job.data.options.source, f.job.output.folder + "-onnx"));
  next.push_back({"List the candidates",
                  fmt::format("hone study {}/study.db shrink", shell_word(f.job.output.folder))});
  if (f.job.loadable && f.proven)
    next.push_back(
        {"Load it in Python", fmt::format("AutoModelForSequenceClassification.from_pretrained({})",
                                          to_line(Json(model)))});
  if (f.proven) next.insert(next.end(), helpful.begin(), helpful.end());
  return next;
}

// Compares the model with its baseline.
Section result_section(const ShrinkFindings& f, const std::vector<ShrunkModel>& models,
                       const fs::path& folder, std::vector<std::string>& notes) {
  const ShrunkModel& judged = models.front();
  const std::string measured_on = short_name_and_size(f.data.measured);
  Section section{
      "",
      {PageTable{before_and_after_table(models),
                 fmt::format("{}, {}.", capitalized(measured_on), judged.arithmetic)},
       figure_block(summary_figure(judged.size_and_time.size_before, judged.size_and_time.size,
                                   judged.size_and_time.times.front(),
                                   judged.both.before.evaluation, judged.both.after.evaluation),
                    folder / "summary",
                    "Size, latency and accuracy of the baseline and the compressed model.",
                    notes)}};
  if (const fs::path figure = folder / "summary.svg"; path_exists(figure))
    write_file(folder / "summary-dark.svg", dark_svg(read_file(figure)));
  for (Block& block : gate_blocks(judged.both.gates, measured_on))
    section.blocks.push_back(std::move(block));
  for (Block& block : paragraphs(joined({{use_of_result(f, judged.both.gates)},
                                         choice_sentences(f),
                                         {end_sentence(f)},
                                         loadable_sentences(f, models)})))
    section.blocks.push_back(std::move(block));
  return section;
}

// Adds the candidates, with or without a model.
void add_candidates(const ShrinkFindings& f, Document& document, const fs::path& folder) {
  write_file(folder / "candidates.csv", to_csv(field_table(f.points)));
  write_file(folder / "space.toml", f.space);
  if (f.points.empty()) return;
  const std::string reused = reused_sentence(f);
  if (!reused.empty()) document.notes.push_back(reused);
  for (const JudgedCandidate& point : f.points)
    if (point.failure)
      document.notes.push_back(
          fmt::format("candidate {} failed: {}", point.number, *point.failure));
  document.sections.push_back(
      {"Candidates",
       {PageTable{brief_candidate_table(f),
                  fmt::format(
                      "On {}. Size and latency are relative to the baseline. Latencies are medians "
                      "of {} rounds on the same {} examples, with 95% intervals from these rounds; "
                      "another run may differ more.{} Changes are points of {} with "
                      "the 95% confidence interval of this evaluation alone.{}{}{}",
                      f.made_on(), kShrinkTimerRounds, f.timer.batch_size(),
                      f.job.goal != ShrinkGoal::size &&
                              std::ranges::any_of(f.points,
                                                  [](const JudgedCandidate& one) {
                                                    return one.measured &&
                                                           one.measured->is_batch1_noisy();
                                                  })
                          ? " Batch size 1 does not count in the choice, as it is noisy."
                          : "",
                      f.subject.baseline_measured->evaluation.metric.text, stricter_tests_text(f),
                      f.trimmed && f.trimmed->applied
                          ? fmt::format(" All have the smaller vocabulary; with it alone, {}.",
                                        f.trimmed->summary)
                          : "",
                      reused.empty() ? "" : fmt::format(" {}.", reused))}}});
  document.sections.push_back(
      {"Candidates in detail",
       {figure_block(candidates_figure(f), folder / "shrink",
                     "Accuracy change of each candidate against its size and its latency.",
                     document.notes),
        Paragraph{
            fmt::format("Bars are 95% intervals of each evaluation alone, on {}.", f.made_on())},
        PageTable{
            candidate_table(f),
            fmt::format(
                "Predictions, in brackets, were made before the candidate was. \"Trained\" "
                "is distillation from the baseline on training examples. p: one-sided test of "
                "a drop of {:g} points or more, times the number of tests ({}); 0.025 or "
                "less is within the limit.",
                100 * f.margin(), f.tests())}},
       /*folded=*/true});
}

void write_card(const ShrinkFindings& f, const ShrinkFields& fields, const ShrunkModel& model,
                const fs::path& output) {
  CardFacts facts =
      facts_of_change(fields.subject, before_and_after_result(model.both, model.model.facts.labels),
                      "before shrinking");
  facts.origin = fmt::format("{} made smaller", markdown_code(f.job.model));
  facts.relation = "finetune";
  facts.trained_on_data = true;
  facts.seed = f.job.seed;
  if (std::string tokens = removed_tokens_sentence(f); !tokens.empty())
    facts.limits = {std::move(tokens)};
  const fs::path folder = output / model.name;
  write_model_card(
      {f.job.output.name_of(folder, output), f.job.invocation.command, std::move(facts),
       joined({choice_sentences(f),
               {end_sentence(f)},
               f.trained_steps == 0 ? std::vector<std::string>{}
                                    : std::vector<std::string>{training_sentence(f)},
               search_sentences(f),
               model_sentences(f, model)})},
      model.model, folder);
}

JobResult report_nothing(const ShrinkFindings& f, JobResult result, OutputFolder& output,
                         Context& context) {
  Document& document = result.document;
  document.tone = Tone::unclear;
  document.headline =
      f.points.empty()
          ? "No smaller model was found: no candidate was evaluated"
          : fmt::format("No smaller model was found: every candidate lost more than {:g} points",
                        100 * f.margin());
  document.evidence =
      fmt::format("Candidates are evaluated on {}. {}", f.made_on(), end_sentence(f));
  document.next = suggested_commands(f);
  document.output = f.job.output.folder;
  document.sections = {{"", paragraphs(choice_sentences(f))},
                       folded("Details", search_sentences(f))};
  result.basis = basis_of(f.job.data.options.source, f.data, std::string(kFloat));
  result.fields = to_json(shrink_fields(f, {}));
  result.gate = GateOutcome{.passed = false, .summary = "no model was made"};
  add_candidates(f, document, output.path());
  document.sections.push_back(folded("How to read this", reading_notes(f, kFloat)));
  write_report(result, f.job.invocation, output.path(), context);
  return result;
}

}  // namespace

JobResult report_shrink(const ShrinkFindings& f, const TextModel& made, JobResult result,
                        OutputFolder& output, Context& context) {
  if (f.is_unchanged()) return report_nothing(f, std::move(result), output, context);
  Document& document = result.document;
  const std::vector<ShrunkModel> models =
      write_shrunk(f, made, output.path(), document.notes, context);
  const ShrunkModel& judged = models.front();
  const std::vector<std::string>& labels = made.model.facts.labels;
  result.basis = basis_of(
      f.job.data.options.source, f.data,
      judged.model.quantization
          ? fmt::format("{} {}", judged.arithmetic, summary(judged.model.quantization->plan))
          : std::string(kFloat));
  const ShrinkFields fields = shrink_fields(f, models);
  result.fields = to_json(fields);
  result.gate = outcome_of(judged.both.gates);
  fill_document(f, judged, document);
  document.output = f.job.output.folder;
  document.next = next_commands(f, judged);
  document.sections.push_back(result_section(f, models, output.path(), document.notes));
  add_candidates(f, document, output.path());
  Section details = folded("Details", joined({search_sentences(f), model_sentences(f, judged)}));
  details.blocks.emplace_back(
      PageTable{other_sizes_table(models), "Bytes in memory, and of the files on disk."});
  document.sections.push_back(std::move(details));
  document.sections.push_back(folded("How to read this", reading_notes(f, judged.arithmetic)));
  if (const Table layers = layer_format_table(made.model); !layers.rows().empty())
    document.sections.push_back(
        {"Layers",
         {PageTable{layers, "Formats of each layer; everything else is fp32."}},
         /*folded=*/true});
  document.sections.push_back(details_section(named_evaluations(judged.both, f.data), labels));
  const std::vector<std::string> metric_warnings = concerns(judged.both, labels, "shrinking");
  print_warnings(context, metric_warnings);
  document.notes.insert(document.notes.end(), metric_warnings.begin(), metric_warnings.end());
  for (const ShrunkModel& model : models) write_card(f, fields, model, output.path());
  write_report(result, f.job.invocation, output.path(), context);
  return result;
}

}  // namespace hone
