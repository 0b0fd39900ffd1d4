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
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

/// What of a search the parts of its report ask for.
class Findings {
 public:
  explicit Findings(const SearchFindings& all) : all_(all) {}

  ShownStudy shown() const {
    ShownStudy study{.view = all_.view,
                     .index_values = all_.space.index_values(),
                     .measured_on = measured_on(all_.subject.data.measured_choice())};
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
  // " in the first of 3 runs with seeds of their own, of mean 0.755", where the best were repeated.
  std::string runs_text() const {
    if (all_.winner.runs < 2) return "";
    return fmt::format(" in the first of {} runs with seeds of their own, of mean {}",
                       all_.winner.runs, rounded_text(all_.winner.mean, kObjectiveDigits));
  }

 private:
  const SearchFindings& all_;
};

/// The winner on the part that is reported.
struct Reported {
  Measurement measured;
  std::optional<BeforeAndAfter> beside;  ///< the model it was made of, where that is trained
};

Reported measure_reported(const SearchFindings& f, const TrialModel& made, Context& context,
                          std::vector<std::string>& notes) {
  const std::int64_t batch = f.job.training.eval_batch_size;
  if (f.subject.fresh)
    return {measure(made.model, f.subject.data.test, batch, context, "test"), std::nullopt};
  const Measurement before =
      measure_before(f.subject.parent, f.subject.data, batch, context, notes, "the search");
  BeforeAndAfter both =
      measure_after(made.model, before, f.subject.data, batch, f.subject.gates, context, "winner");
  return {both.after, both};
}

// "validation accuracy is +0.43 points from test (95% CI …)"
std::string gap_text(const SearchFindings& f, const TrialModel& made, const Measurement& reported) {
  if (std::string flatters = same_part_warning(f.subject.data); !flatters.empty()) return flatters;
  const TaskEvaluation &chosen = made.measurement.evaluation, &test = reported.evaluation;
  return fmt::format(
             "The winner was chosen by its figure on {}, where it has {} {}: the best of many is "
             "also a "
             "lucky one, so what is reported is measured on {} alone.",
             f.subject.data.measured_choice().facts.part, figure_title(chosen.figure),
             figure_sentence(chosen), name_and_size(f.subject.data.measured)) +
         (std::isfinite(test.value) ? fmt::format(" Validation lies {} points from it.",
                                                  points_text(chosen.value - test.value))
                                    : "");
}

Json fields_of(const SearchFindings& f, const ShownStudy& study, const TrialModel& made,
               const Reported& reported, const fs::path& folder) {
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Findings findings(f);
  Json objectives = Json::array(), front = Json::array();
  for (const ObjectiveFormula& objective : findings.objectives())
    objectives.push_back(
        {{"formula", objective.formula.text()},
         {"direction", objective.direction == Direction::maximize ? "maximize" : "minimize"}});
  for (const Trial* trial : pareto_front(f.view)) front.push_back(trial->number);
  Json json = subject_of(f.job.model, f.subject.data.identity, f.subject.data.measured);
  json.update({{"study", f.job.study},
               {"sampler", f.job.sampler},
               {"pruner", f.job.pruner},
               {"seed", f.job.seed},
               {"seeds", 1},
               {"workers", f.job.workers},
               {"ended_by", f.end.reason},
               {"trials", to_json(count_trials(f.view))},
               {"objectives", objectives},
               {"best",
                {{"number", f.winner.trial->number},
                 {"runs", f.winner.runs},
                 {"mean", f.winner.mean},
                 {"values", f.winner.trial->values},
                 {"parameters", shown_values(study, *f.winner.trial)},
                 {"configuration",
                  to_json(f.space.configuration_of(assignment_of(f.winner.trial->parameters)))},
                 {"figures", f.winner.trial->user_attributes.contains(kFiguresAttribute)
                                 ? f.winner.trial->user_attributes.at(kFiguresAttribute)
                                 : Json()}}},
               {"front", front},
               {"dead_parameters", f.dead},
               {"chosen_on", to_json(f.subject.data.measured_choice())},
               {"validation", to_json(made.measurement, labels)},
               {"size", to_json(model_size(made.model, folder / "best"))}});
  if (reported.beside) {
    json.update(to_json(*reported.beside, labels));
  } else {
    json["after"] = to_json(reported.measured, labels);
  }
  return json;
}

std::string headline_of(const SearchFindings& f, const Reported& reported) {
  const Findings findings(f);
  const std::string chosen =
      fmt::format("Trial {} of {} wins: {}{} on {}.", f.winner.trial->number,
                  grouped(count_trials(f.view).finished()), findings.winner_text(),
                  findings.runs_text(), findings.made_on());
  const std::string flatters = same_part_warning(f.subject.data);
  return chosen + " " + (flatters.empty() ? "" : flatters + " ") +
         (reported.beside ? fmt::format("On {}: {}.", name_and_size(f.subject.data.measured),
                                        reported.beside->verdict.summary)
                          : figure_headline(name_and_size(f.subject.data.measured),
                                            reported.measured.evaluation));
}

// Which layers took which format, and why; none where the winner has no formats.
std::optional<FormatVerdicts> verdicts_of(const SearchFindings& f, const TrialModel& made,
                                          Context& context) {
  if (!made.model.quantization) return std::nullopt;
  const TrialConfiguration configuration =
      f.space.configuration_of(assignment_of(f.winner.trial->parameters));
  std::vector<std::string> layers = f.space.precision_layers(configuration);
  const Graph graph = plain_graph(made.unrounded);  // from which [structure] may have taken some
  std::erase_if(layers, [&](const std::string& name) { return graph.find(name) == nullptr; });
  return judge_formats(made.unrounded, layers, made.model.quantization->plan, f.subject.data.train,
                       f.subject.calibration, context);
}

Section formats_section(const std::optional<FormatVerdicts>& verdicts) {
  constexpr std::size_t kMostOperands = 24;
  Section section{"Formats of the winner", {}};
  if (!verdicts) return section;
  section.blocks = {
      PageTable{
          formats_taken(*verdicts),
          "How many layers took which format, and what it did to what they read, each operand "
          "alone, over training texts; kept: 20 dB or more of it"},
      PageTable{
          operand_verdicts(*verdicts, kMostOperands),
          "The noisiest operands; layers.csv has all of them. Step: the smallest magnitude that "
          "is not zero; spread: the standard deviation of the values; zero: whether 0 stays 0; "
          "better: parameters that lose less at no more bits, looked for where less than 20 dB "
          "are left"}};
  return section;
}

std::vector<NamedEvaluation> evaluations_of(const SearchFindings& f, const Reported& reported) {
  if (reported.beside) return named_evaluations(*reported.beside, f.subject.data);
  return {{f.subject.data.measured.facts.part, reported.measured.evaluation}};
}

}  // namespace

Json measured_on(const MeasuredPart& part) {
  std::vector<std::string> others = cautions(part);
  std::erase_if(others,
                [](const std::string& caution) { return caution.ends_with("held for choices"); });
  const std::int64_t effective = part.facts.effective_rows();
  return {{"text", part_text(part.facts.part, part.facts.rows, effective, others)},
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
      return fmt::format("; trial {} failed: {}", trial->number, failure_of(*trial));
  return "";
}

SearchResult report_search(const SearchFindings& f, const TrialModel& made, RunReport report,
                           OutputFolder& output, Context& context) {
  const Findings findings(f);
  const fs::path& folder = output.path();
  const Reported reported = measure_reported(f, made, context, report.notes);
  const ShownStudy study = findings.shown();
  report.results = fields_of(f, study, made, reported, folder);
  const std::optional<FormatVerdicts> verdicts = verdicts_of(f, made, context);
  if (verdicts) {
    report.results["verdicts"] = to_json(*verdicts);
    write_file(folder / "layers.csv", to_csv(operand_verdicts(*verdicts, /*most_rows=*/0)));
  }
  report.headline = headline_of(f, reported);
  report.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  const Table best = best_trials(study);
  const std::string caption = fmt::format(
      "{} of {}, on {}. {}", f.view.has_several_objectives() ? "The Pareto front" : "The best",
      to_text(count_trials(f.view)), findings.made_on(), certainty_text(study));
  const std::string gap = gap_text(f, made, reported.measured);
  const std::vector<NamedEvaluation> measured = evaluations_of(f, reported);
  const std::vector<std::string>& labels = made.model.facts.labels;
  std::vector<std::string> undrawn;
  report.sections = {
      {"Result", {Paragraph{gap}, Paragraph{to_text(model_size(made.model, folder / "best"))}}},
      {"Trials", {PageTable{best, caption}}},
      formats_section(verdicts),
      details_section(measured, labels),
      {"The winner",
       {Preformatted{to_document(report.results["best"]["configuration"])}},
       /*folded=*/true},
      {"The space", {Preformatted{f.space.recipe().text}}, /*folded=*/true}};
  const JudgedGates gates = reported.beside ? reported.beside->gates : JudgedGates{};
  const std::string part = name_and_size(f.subject.data.measured);
  for (Block& block : gate_blocks(gates, part))
    report.sections[0].blocks.push_back(std::move(block));
  Section& trials = report.sections[1];
  for (const StudyFigure& figure : study_figures(study))
    trials.blocks.push_back(figure_block(figure.figure, folder / figure.name,
                                         std::string(figure.description), undrawn));
  trials.blocks.push_back(Paragraph{"trials.csv has all of them."});
  for (const std::string& name : f.dead)
    report.notes.push_back(fmt::format("{} changes nothing: it is searched in vain", name));
  const std::vector<std::string> doubts = reported.beside
                                              ? concerns(*reported.beside, labels, "the search")
                                              : concerns(reported.measured.evaluation, labels);
  for (const auto& lines : {doubts, undrawn})
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
  write_file(folder / "trials.csv", to_csv(all_trials(study)));
  write_run_report(report, folder, context);
  for (const auto& lines : {doubts, undrawn}) tell_warnings(context, lines);
  SearchResult result{.fields = report.results, .gate = outcome_of(gates, part)};
  result.text = [=, headline = report.headline, counts = to_text(count_trials(f.view)),
                 reason = f.end.reason, destination = f.job.output.folder](const TextStyle& style) {
    return fmt::format(
        "{}\n\n{}\n{}\n{}\n{}{}Ended by {}; one seed; the winner's model in {}/best\n", headline,
        to_text(best, style), caption, gap, gate_text(gates, part, style),
        details_text(measured, labels, style), reason, destination);
  };
  return result;
}

}  // namespace hone
