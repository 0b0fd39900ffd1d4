#include "hone/jobs/search/search_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/format_verdicts.h"
#include "hone/jobs/search/search_objective.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/metric.h"
#include "hone/models/model_size.h"
#include "hone/passes/pack.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

/// Access to the parts of a search that its report shows.
class Findings {
 public:
  explicit Findings(const SearchFindings& all) : all_(all) {}

  DescribedStudy shown() const {
    DescribedStudy study{.view = all_.view,
                         .index_values = all_.space.index_values(),
                         .measured_on = measured_on(all_.subject.data.measured_choice()),
                         .baseline = all_.baseline};
    for (const ObjectiveFormula& objective : objectives())
      study.objectives.push_back(objective.formula.text());
    find_importances(study);
    return study;
  }

  const std::vector<ObjectiveFormula>& objectives() const { return all_.space.recipe().objectives; }
  const Trial& winner() const { return *all_.winner.trial; }
  // "validation, n = 1,800"
  std::string made_on() const {
    return measured_on(all_.subject.data.measured_choice()).at("text").get<std::string>();
  }

  // "accuracy - 0.01*average_bits = 0.7812"
  std::string winner_text() const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < objectives().size(); ++i)
      parts.push_back(fmt::format("{} = {}", objectives()[i].formula.text(),
                                  rounded_text(winner().values[i], kObjectiveDigits)));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  // " (the first of 3 runs with different seeds, mean 0.755)" if the best were repeated; else "".
  std::string runs_text() const {
    if (all_.winner.runs < 2) return "";
    return fmt::format(" (the first of {} runs with different seeds, mean {})", all_.winner.runs,
                       rounded_text(all_.winner.mean, kObjectiveDigits));
  }

 private:
  const SearchFindings& all_;
};

/// The winner on the reported split.
struct Reported {
  Measurement measured;
  std::optional<BeforeAndAfter>
      against_baseline;                ///< comparison with the baseline, if that is trained
  std::vector<ModelTimes> times = {};  ///< of the packed winner and the baseline
};

Reported measure_reported(const SearchFindings& f, const TrialModel& made, Context& context,
                          std::vector<std::string>& notes) {
  const std::int64_t batch = f.job.training.eval_batch_size;
  if (f.subject.fresh)
    return {measure(made.model, f.subject.data.test, batch, context, "test"), std::nullopt};
  const Measurement before =
      measure_before(f.subject.baseline, f.subject.data, batch, context, notes, "the search");
  BeforeAndAfter both =
      measure_after(made.model, before, f.subject.data, batch, f.subject.gates, context, "winner");
  const EncodedSet& examples = f.subject.data.test;
  return {both.after, both,
          time_models({f.subject.baseline.model, examples},
                      {packed_to_run(made.model, context), examples}, kLatencyBatches, context)};
}

// Explains why the value by which the winner was chosen is optimistic.
std::string gap_text(const SearchFindings& f, const TrialModel& made, const Measurement& reported) {
  if (std::string flatters = same_split_warning(f.subject.data); !flatters.empty()) return flatters;
  const TaskEvaluation &chosen = made.measurement.evaluation, &test = reported.evaluation;
  return fmt::format(
             "The winner was chosen by its {} on {}, {}. The best of many trials is partly lucky, "
             "so its result is evaluated on {} only.",
             chosen.metric.text, f.subject.data.measured_choice().facts.split,
             metric_sentence(chosen), name_and_size(f.subject.data.measured)) +
         (std::isfinite(test.value) ? fmt::format(" The difference between the two is {} points.",
                                                  points_text(chosen.value - test.value))
                                    : "");
}

// Returns the fields about the search as a whole.
FinishedSearch finished_search(const SearchFindings& f, const DescribedStudy& study) {
  return {.subject = subject_result(f.job.model, f.subject.data.identity, f.subject.data.measured),
          .study = f.job.study,
          .sampler = f.job.sampler,
          .pruner = f.job.pruner,
          .seed = f.job.seed,
          .workers = f.job.workers,
          .ended_by = f.end.reason,
          .trials = count_trials(f.view),
          .objectives = objective_results(study),
          .front = numbers_of(pareto_front(f.view)),
          .excluded_by_gates = numbers_of(excluded_by_gates(f.view)),
          .dead_parameters = f.dead,
          .chosen_on = measured_split_result(f.subject.data.measured_choice())};
}

SearchWinner search_winner(const SearchFindings& f, const DescribedStudy& study) {
  const Trial& trial = *f.winner.trial;
  SearchWinner winner{
      .number = trial.number,
      .runs = f.winner.runs,
      .mean = f.winner.mean,
      .values = trial.values,
      .parameters = shown_values(study, trial),
      .configuration = to_json(f.space.configuration_of(assignment_of(trial.parameters)))};
  if (const auto metrics = trial.user_attributes.find(kMetricsAttribute);
      metrics != trial.user_attributes.end())
    for (const auto& [name, value] : metrics->second.items())
      winner.metrics[name] = value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  return winner;
}

SearchFields search_fields(const SearchFindings& f, const DescribedStudy& study,
                           const TrialModel& made, const Reported& reported, const ModelSize& size,
                           int threads) {
  const std::vector<std::string>& labels = made.model.facts.labels;
  SearchFields fields{.search = finished_search(f, study),
                      .best = search_winner(f, study),
                      .validation = evaluation_result(made.measurement, labels),
                      .size = size,
                      .times = reported.times,
                      .threads = threads,
                      .after = evaluation_result(reported.measured, labels)};
  if (reported.against_baseline) {
    fields.size_before = model_size(f.subject.baseline.model, f.subject.baseline.folder);
    BeforeAndAfterResult both = before_and_after_result(*reported.against_baseline, labels);
    fields.before = std::move(both.before);
    fields.comparison = std::move(both.comparison);
    fields.degraded_classes = std::move(both.degraded_classes);
    fields.gate = gate_result_if_any(reported.against_baseline->gates);
  }
  return fields;
}

// Headline, key figures and evidence.
void describe_winner(const SearchFindings& f, const Reported& reported, Document& document) {
  const Findings findings(f);
  const MeasuredSplit& part = f.subject.data.measured;
  const std::string label = "Best of " + counted_text(count_trials(f.view).finished(), "trial");
  const TaskEvaluation& after = reported.measured.evaluation;
  if (reported.against_baseline) {
    describe_change(document, label, *reported.against_baseline, part);
  } else {
    document.headline = fmt::format("{}: {} {} on {}", label, after.metric.text,
                                    share_text(after.value), part.facts.split);
    document.key_figures = {{metric_title(after.metric), metric_sentence(after)}};
    document.evidence =
        fmt::format("{}: {}.", capitalized(name_and_size(part)), constant_baseline_text(after));
  }
  if (const std::string flatters = same_split_warning(f.subject.data); !flatters.empty())
    document.evidence += " " + flatters;
  const std::int64_t steps = training_steps(
      f.subject, f.space.configuration_of(assignment_of(findings.winner().parameters)));
  if (const std::string caveat = training_caveat(steps, steps, "compression");
      reported.against_baseline && !caveat.empty())
    document.evidence += " " + caveat;
  document.key_figures.push_back(
      {"Objective",
       fmt::format("{}{} on {}, trial {}", findings.winner_text(), findings.runs_text(),
                   findings.made_on(), shown_number(findings.winner().number))});
  const double packed = metric_in(findings.winner(), "packed_bytes");
  const Json& before = value_at(value_at(f.baseline, "metrics"), "packed_bytes");
  document.key_figures.push_back(before.is_number()
                                     ? size_fact("Size when packed", before.get<double>(), packed)
                                     : Fact{"Size when packed", short_bytes(packed)});
  for (Fact& figure : latency_facts(reported.times))
    document.key_figures.push_back(std::move(figure));
}

// "7 trials are excluded, as they are not shown to pass the gates; trial 3, the best by accuracy (0.9312), is one of
// them."; "" if none are.
std::string excluded_sentence(const SearchFindings& f) {
  const std::vector<const Trial*> excluded = excluded_by_gates(f.view);
  if (excluded.empty()) return "";
  const bool one = excluded.size() == 1;
  std::string text =
      fmt::format(" {} trial{} excluded, as {} not shown to pass the gates",
                  grouped(std::ssize(excluded)), one ? " is" : "s are", one ? "it is" : "they are");
  const double best = excluded.front()->values[0];
  if (f.winner.trial == nullptr || loss_of(best, f.view.directions[0]) <
                                       loss_of(f.winner.trial->values[0], f.view.directions[0]))
    text += fmt::format(
        "; trial {}, the best by {} ({}), is one of them", shown_number(excluded.front()->number),
        f.space.recipe().objectives.front().formula.text(), rounded_text(best, kObjectiveDigits));
  return text + ".";
}

Section figures_of(const DescribedStudy& study, const fs::path& folder,
                   std::vector<std::string>& figure_notes) {
  Section figures{"Figures", {}};
  for (const StudyFigure& figure : study_figures(study))
    figures.blocks.push_back(figure_block(figure.figure, folder / figure.name,
                                          std::string(figure.description), figure_notes));
  return figures;
}

NextCommand show_study(const SearchFindings& f) {
  const std::string storage =
      f.job.storage.empty() ? f.job.output.folder + "/study.db" : f.job.storage;
  return {"Show the study",
          fmt::format("hone study {} {}", shell_word(storage), shell_word(f.job.study))};
}

std::vector<NextCommand> commands_after_search(const SearchFindings& f, const TrialModel& made) {
  const std::string& folder = f.job.output.folder;
  std::vector<NextCommand> commands = {show_study(f)};
  if (made.model.quantization && !has_packed_weights(made.model.graph))
    commands.push_back({"Store the weights in few bits",
                        fmt::format("hone pack {} -o {}", shell_word(folder + "/best"),
                                    shell_word(folder + "-packed"))});
  return commands;
}

// Judges the formats of the winner by layer; none if it is not quantized.
std::optional<FormatVerdicts> verdicts_of(const SearchFindings& f, const TrialModel& made,
                                          Context& context) {
  if (!made.model.quantization) return std::nullopt;
  const TrialConfiguration configuration =
      f.space.configuration_of(assignment_of(f.winner.trial->parameters));
  std::vector<std::string> layers = f.space.precision_layers(configuration);
  const Graph graph = unquantized_graph(made.unrounded);  // [structure] may have removed layers
  std::erase_if(layers, [&](const std::string& name) { return graph.find(name) == nullptr; });
  return judge_formats(made.unrounded, layers, made.model.quantization->plan, f.subject.data.train,
                       f.subject.calibration, context);
}

Section formats_section(const std::optional<FormatVerdicts>& verdicts) {
  constexpr std::size_t kMaxOperands = 24;
  Section section{"Formats of the winner", {}, /*folded=*/true};
  if (!verdicts) return section;
  section.blocks = {
      PageTable{formats_table(*verdicts),
                "Layers of each format, and the noise of their operands, each alone, on training "
                "examples. Accurate: a signal-to-noise ratio of 20 dB or more."},
      PageTable{
          operand_verdict_table(*verdicts, kMaxOperands),
          "The noisiest operands; layers.csv lists all. Step: the smallest nonzero magnitude. "
          "Spread: the standard deviation of the values. Zero: whether 0 stays 0. Better: "
          "parameters with less noise at no more bits, searched below 20 dB."}};
  return section;
}

Section size_section(const ModelSize& size, const std::vector<ModelTimes>& times, int threads) {
  Section section{"Size and latency", {Paragraph{to_text(size)}}, /*folded=*/true};
  for (const ModelTimes& one : times) section.blocks.push_back(Paragraph{times_line(one, threads)});
  if (!times.empty())
    section.blocks.push_back(Paragraph{"Latencies are those of the packed winner."});
  return section;
}

std::vector<NamedEvaluation> evaluations_of(const SearchFindings& f, const Reported& reported) {
  if (reported.against_baseline)
    return named_evaluations(*reported.against_baseline, f.subject.data);
  return {{f.subject.data.measured.facts.split, reported.measured.evaluation}};
}

std::string_view end_text(EndReason reason) {
  if (reason == EndReason::trials) return "All trials were run";
  if (reason == EndReason::time) return "The search ended at its time limit";
  if (reason == EndReason::plateau)
    return "The search ended because the best trial did not improve";
  if (reason == EndReason::exhausted) return "Every point of the search space was tried";
  return "The search was interrupted";
}

}  // namespace

Json measured_on(const MeasuredSplit& part) {
  std::vector<std::string> others = notable_cautions(part);
  std::erase_if(others,
                [](const std::string& caution) { return caution.ends_with("used for choices"); });
  const std::int64_t effective = part.facts.effective_rows();
  return {{"text", split_text(part.facts.split, part.facts.rows, effective, others)},
          {"n", part.facts.rows},
          {"effective_n", effective}};
}

RepeatedTrial winner_of(const StudyView& view, std::int64_t repeats) {
  const auto once = [](const Trial* trial) {
    return trial == nullptr ? RepeatedTrial{}
                            : RepeatedTrial{.trial = trial, .mean = trial->values[0], .runs = 1};
  };
  if (view.has_several_objectives()) {
    const std::vector<const Trial*> front = pareto_front(view);
    const auto best = std::ranges::min_element(front, {}, [&](const Trial* trial) {
      return loss_of(trial->values[0], view.directions[0]);
    });
    return once(best == front.end() ? nullptr : *best);
  }
  if (repeats == 0) return once(best_trial(view));
  const std::vector<RepeatedTrial> ranked = ranked_by_mean(view);
  const auto repeated =
      std::ranges::find_if(ranked, [](const RepeatedTrial& trial) { return trial.runs > 1; });
  return repeated != ranked.end() ? *repeated : ranked.empty() ? RepeatedTrial{} : ranked.front();
}

std::string failure_of(const Trial& trial) {
  const auto reason = trial.user_attributes.find("fail_reason");
  return reason == trial.user_attributes.end() ? "" : reason->second.get<std::string>();
}

std::string first_failure(const StudyView& view) {
  for (const Trial* trial : view.trials)
    if (trial->state == TrialState::fail && !failure_of(*trial).empty())
      return fmt::format("; trial {} failed: {}", shown_number(trial->number), failure_of(*trial));
  return "";
}

std::vector<const Trial*> excluded_by_gates(const StudyView& view) {
  std::vector<const Trial*> excluded;
  for (const Trial* trial : view.trials) {
    const auto constraints = trial->system_attributes.find("constraints");
    if (trial->state != TrialState::complete || is_repetition(*trial) ||
        !trial->user_attributes.contains(kMetricsAttribute) ||
        !std::isfinite(metric_in(*trial, kGateMetric)) ||
        constraints == trial->system_attributes.end())
      continue;
    const double of_gates = constraints->second.back().get<double>();  // the last one
    if (of_gates > 0 && trial->violation() == of_gates) excluded.push_back(trial);
  }
  std::ranges::stable_sort(excluded, {}, [&](const Trial* trial) {
    return loss_of(trial->values[0], view.directions[0]);
  });
  return excluded;
}

JobResult report_no_winner(const SearchFindings& f, const std::string& too_few, Document document,
                           OutputFolder& output, Context& context) {
  const Findings findings(f);
  const fs::path& folder = output.path();
  const std::vector<const Trial*> excluded = excluded_by_gates(f.view);
  const DescribedStudy study = findings.shown();
  std::vector<std::string> gates, figure_notes;
  for (const Gate& gate : f.subject.gates) gates.push_back(gate.text);
  double least_p = 1;
  for (const Trial* trial : excluded) least_p = std::min(least_p, trial->violation());
  const std::string summary =
      fmt::format("none of {} trials is shown to pass {}", grouped(count_trials(f.view).distinct()),
                  fmt::join(gates, ", "));
  const std::string why = fmt::format(
      "the least p-value, corrected for gates and trials, is {}, and {} or less would pass",
      display_text(p_value(least_p)), kVerdictLevel);
  const NoWinnerFields fields{
      .search = finished_search(f, study),
      .gate = {.passed = false, .verdict = Conclusion::inconclusive, .summary = summary}};
  JobResult result{.fields = to_json(fields), .document = std::move(document)};
  Document& page = result.document;
  page.headline = capitalized(summary);
  page.tone = Tone::bad;
  page.evidence = fmt::format("{}: {}.{}", capitalized(findings.made_on()), why,
                              too_few.empty() ? "" : " " + too_few);
  page.sections = {
      {"",
       {PageTable{trials_table(study, excluded),
                  fmt::format("The best trials on {} ({}); the gates exclude all of them. "
                              "trials.csv lists all. {}.",
                              findings.made_on(), to_text(count_trials(f.view)),
                              end_text(f.end.reason))}}},
      figures_of(study, folder, figure_notes),
      {"Search space", {Preformatted{f.space.recipe().text}}, /*folded=*/true},
      {"How to read this", {Paragraph{certainty_text(study)}}, /*folded=*/true}};
  page.output = f.job.output.folder;
  page.next = {show_study(f)};
  page.notes.insert(page.notes.end(), figure_notes.begin(), figure_notes.end());
  result.basis = basis_of(f.job.data.options.source, f.subject.data, "as in each trial");
  result.gate = GateOutcome{.passed = false, .summary = summary};
  write_file(folder / "trials.csv", to_csv(all_trials(study)));
  write_report(result, f.job.invocation, folder, context);
  print_warnings(context, figure_notes);
  return result;
}

JobResult report_search(const SearchFindings& f, const TrialModel& made, Document document,
                        OutputFolder& output, Context& context) {
  const Findings findings(f);
  const fs::path& folder = output.path();
  JobResult result{.document = std::move(document)};
  Document& page = result.document;
  const Reported reported = measure_reported(f, made, context, page.notes);
  const DescribedStudy study = findings.shown();
  const ModelSize size = model_size(made.model, folder / "best");
  SearchFields fields = search_fields(f, study, made, reported, size, context.pool.threads());
  const std::optional<FormatVerdicts> verdicts = verdicts_of(f, made, context);
  if (verdicts) {
    fields.verdicts = format_verdicts_result(*verdicts);
    write_file(folder / "layers.csv", to_csv(operand_verdict_table(*verdicts, /*most_rows=*/0)));
  }
  result.fields = to_json(fields);
  result.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  describe_winner(f, reported, page);
  const std::vector<std::string>& labels = made.model.facts.labels;
  const JudgedGates gates =
      reported.against_baseline ? reported.against_baseline->gates : JudgedGates{};
  const std::string part = name_and_size(f.subject.data.measured);
  std::vector<std::string> figure_notes;
  Section trials{
      "",
      {PageTable{best_trials(study),
                 fmt::format("{} of {}, on {}; trials.csv lists all. {}.{}",
                             f.view.has_several_objectives() ? "The Pareto front" : "The best",
                             to_text(count_trials(f.view)), findings.made_on(),
                             end_text(f.end.reason), excluded_sentence(f))}}};
  for (Block& block : gate_blocks(gates, part)) trials.blocks.push_back(std::move(block));
  page.sections = {
      std::move(trials),
      figures_of(study, folder, figure_notes),
      formats_section(verdicts),
      details_section(evaluations_of(f, reported), labels),
      size_section(size, reported.times, context.pool.threads()),
      {"Configuration of the winner",
       {Preformatted{to_document(fields.best.configuration)}},
       /*folded=*/true},
      {"Search space", {Preformatted{f.space.recipe().text}}, /*folded=*/true},
      {"How to read this",
       {Paragraph{gap_text(f, made, reported.measured)}, Paragraph{certainty_text(study)}},
       /*folded=*/true}};
  page.output = f.job.output.folder;
  page.next = commands_after_search(f, made);
  for (const std::string& name : f.dead)
    page.notes.push_back(fmt::format("{} has no effect on any model of the space", name));
  const std::vector<std::string> metric_warnings =
      reported.against_baseline ? concerns(*reported.against_baseline, labels, "the search")
                                : concerns(reported.measured.evaluation, labels);
  for (const auto& lines : {metric_warnings, figure_notes})
    page.notes.insert(page.notes.end(), lines.begin(), lines.end());
  result.gate = outcome_of(gates);
  write_file(folder / "trials.csv", to_csv(all_trials(study)));
  write_report(result, f.job.invocation, folder, context);
  for (const auto& lines : {metric_warnings, figure_notes}) print_warnings(context, lines);
  return result;
}

}  // namespace hone
