#include "hone/jobs/search_report.h"

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
#include "hone/jobs/search_objective.h"
#include "hone/metrics/metric.h"
#include "hone/models/model_size.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kShownTrials = 20;
constexpr int kValueDigits = 4;
constexpr std::string_view kFormatSuffix = ".format";  // of the parameter that is a layer's format

bool is_repeat(const Trial& trial) { return trial.user_attributes.contains("repeat_of"); }

struct TrialCounts {
  std::int64_t complete = 0, pruned = 0, failed = 0, cached = 0;
  std::int64_t all() const { return complete + pruned + failed; }
};

TrialCounts count_trials(const StudyView& view) {
  TrialCounts counts;
  for (const Trial* trial : view.trials) {
    counts.complete += trial->state == TrialState::complete ? 1 : 0;
    counts.pruned += trial->state == TrialState::pruned ? 1 : 0;
    counts.failed += trial->state == TrialState::fail ? 1 : 0;
    counts.cached += trial->user_attributes.contains(kCachedAttribute) ? 1 : 0;
  }
  return counts;
}

std::string to_text(const TrialCounts& counts) {
  return fmt::format("{} trials: {} complete{}, {} pruned, {} failed", grouped(counts.all()),
                     grouped(counts.complete),
                     counts.cached == 0
                         ? ""
                         : fmt::format(" ({} known from earlier searches)", grouped(counts.cached)),
                     grouped(counts.pruned), grouped(counts.failed));
}

Json to_json(const TrialCounts& counts) {
  return {{"complete", counts.complete},
          {"pruned", counts.pruned},
          {"failed", counts.failed},
          {"cached", counts.cached}};
}

double figure_in(const Trial& trial, const std::string& name) {
  const auto figures = trial.user_attributes.find(kFiguresAttribute);
  if (figures == trial.user_attributes.end()) return kNoValue;
  const Json& value = value_at(figures->second, name);
  return value.is_number() ? value.get<double>() : kNoValue;
}

/// What of a search the parts of its report ask for.
class Findings {
 public:
  explicit Findings(const SearchFindings& all) : all_(all) {}

  const std::vector<ObjectiveFormula>& objectives() const { return all_.space.recipe().objectives; }
  const Trial& winner() const { return *all_.winner.trial; }
  Json values_of(const Trial& trial) const {
    return all_.space.described(assignment_of(trial.parameters));
  }
  // "validation, n = 1 800"
  std::string made_on() const { return name_and_size(all_.subject.data.measured_choice()); }

  // "accuracy - 0.01*average_bits = 0.7812"
  std::string winner_text() const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < objectives().size(); ++i)
      parts.push_back(fmt::format("{} = {}", objectives()[i].formula.text(),
                                  rounded_text(winner().values[i], kValueDigits)));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  // " in the first of 3 runs with seeds of their own, of mean 0.755", where the best were repeated.
  std::string runs_text() const {
    if (all_.winner.runs < 2) return "";
    return fmt::format(" in the first of {} runs with seeds of their own, of mean {}",
                       all_.winner.runs, rounded_text(all_.winner.mean, kValueDigits));
  }

  // The complete ones, best first by the first objective.
  std::vector<const Trial*> ranked() const {
    std::vector<const Trial*> trials;
    for (const Trial* trial : all_.view.trials)
      if (trial->state == TrialState::complete && trial->violation() == 0 && !is_repeat(*trial))
        trials.push_back(trial);
    std::ranges::stable_sort(trials, {}, [&](const Trial* trial) {
      return loss_of(trial->values[0], objectives()[0].direction);
    });
    return trials;
  }

  Table table() const {
    std::vector<Column> columns = {{"number", "Trial"}};
    for (const ObjectiveFormula& objective : objectives())
      columns.push_back({objective.formula.text(), objective.formula.text()});
    // What is an objective has its column.
    const bool tells_bits = !is_objective("average_bits"),
               tells_bytes = !is_objective("packed_bytes");
    if (tells_bits) columns.push_back({"average_bits", "Bits"});
    if (tells_bytes) columns.push_back({"packed_bytes", "Packed"});
    columns.push_back({"values", "Values", false});
    Table table(columns);
    for (const Trial* trial : ranked()) {
      if (table.rows().size() >= kShownTrials) break;
      std::vector<Cell> row = {trial->number};
      for (const double value : trial->values) row.emplace_back(real(value, kValueDigits));
      if (tells_bits) row.emplace_back(real(figure_in(*trial, "average_bits"), 2));
      if (tells_bytes)
        row.emplace_back(bytes(static_cast<std::int64_t>(figure_in(*trial, "packed_bytes"))));
      row.emplace_back(values_text(*trial));
      table.add_row(std::move(row));
    }
    return table;
  }

  bool is_objective(std::string_view figure) const {
    return std::ranges::any_of(objectives(), [&](const ObjectiveFormula& objective) {
      return objective.formula.text() == figure;
    });
  }

  // "learning_rate 0.0003, batch 16, …". Of many choices of a format how many are which: "formats: 9 int, 5 none, …".
  std::string values_text(const Trial& trial) const {
    constexpr std::size_t kMostValues = 4;
    const Json values = values_of(trial);
    std::map<std::string, int> choices_by_format;
    std::vector<std::string> parts, prefixes;
    for (const auto& [name, value] : values.items())
      if (values.size() > kMostValues && name.ends_with(kFormatSuffix)) {
        ++choices_by_format[value.get<std::string>()];
        prefixes.push_back(name.substr(0, name.size() - kFormatSuffix.size()) + ".");
      }
    for (const auto& [format, choices] : choices_by_format)
      parts.push_back(fmt::format("{}{} {}", parts.empty() ? "formats: " : "", choices, format));
    std::size_t left = 0;
    for (const auto& [name, value] : values.items()) {
      if (std::ranges::any_of(prefixes,
                              [&](const std::string& prefix) { return name.starts_with(prefix); }))
        continue;
      if (parts.size() >= kMostValues) {
        ++left;
        continue;
      }
      parts.push_back(fmt::format("{} {}", name,
                                  value.is_string() ? value.get<std::string>()
                                  : value.is_number_float()
                                      ? fmt::format("{:.4g}", value.get<double>())
                                      : to_line(value)));
    }
    if (left > 0) parts.push_back(fmt::format("and {} more", left));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  Table all_trials() const {
    std::vector<Column> columns = {{"number", "number"}, {"state", "state"}};
    for (const ObjectiveFormula& objective : objectives())
      columns.push_back({objective.formula.text(), objective.formula.text()});
    columns.push_back({"seconds", "seconds"});
    columns.push_back({"cached", "cached"});
    columns.push_back({"repeat_of", "repeat_of"});
    for (const SpaceParameter& parameter : all_.space.space().parameters)
      columns.push_back({parameter.name, parameter.name});
    Table table(columns);
    for (const Trial* trial : all_.view.trials) {
      std::vector<Cell> row = {trial->number, std::string(to_string(trial->state))};
      for (std::size_t i = 0; i < objectives().size(); ++i)
        row.emplace_back(i < trial->values.size() ? Cell(real(trial->values[i], kValueDigits))
                                                  : Cell(absent));
      const auto seconds = trial->user_attributes.find(kSecondsAttribute);
      row.emplace_back(seconds == trial->user_attributes.end()
                           ? Cell(absent)
                           : Cell(real(seconds->second.get<double>(), 2)));
      row.emplace_back(trial->user_attributes.contains(kCachedAttribute) ? "yes" : "no");
      row.emplace_back(is_repeat(*trial)
                           ? Cell(trial->user_attributes.at("repeat_of").get<std::int64_t>())
                           : Cell(absent));
      const Json values = values_of(*trial);
      for (const SpaceParameter& parameter : all_.space.space().parameters) {
        const Json& value = value_at(values, parameter.name);
        row.emplace_back(value.is_null()     ? Cell(absent)
                         : value.is_string() ? Cell(value.get<std::string>())
                                             : Cell(to_line(value)));
      }
      table.add_row(std::move(row));
    }
    return table;
  }

  Figure figure() const { return objectives().size() > 1 ? front_figure() : history_figure(); }

 private:
  // Optuna's optimization history: values of trials, and the best so far.
  Figure history_figure() const {
    Series values{.label = "a trial", .points = {}, .draw = Draw::points},
        best{.label = "best so far", .points = {}, .draw = Draw::steps};
    double least = std::numeric_limits<double>::infinity();
    for (const Trial* trial : all_.view.trials) {
      if (trial->state != TrialState::complete || is_repeat(*trial)) continue;
      const auto x = static_cast<double>(trial->number);
      values.points.push_back({x, trial->values[0]});
      if (trial->violation() > 0) continue;
      least = std::min(least, loss_of(trial->values[0], objectives()[0].direction));
      best.points.push_back({x, loss_of(least, objectives()[0].direction)});
    }
    Panel panel{.x = {.label = "Trial"}, .y = {.label = objectives()[0].formula.text()}};
    panel.series = {values, best};
    return {.title = fmt::format("Optimization history; {}; one seed", made_on()),
            .panels = {panel}};
  }

  // Pareto front of the first two objectives.
  Figure front_figure() const {
    Series others{.label = "a trial", .points = {}, .draw = Draw::points},
        front{.label = "Pareto front", .points = {}, .draw = Draw::points};
    const std::vector<const Trial*> best = pareto_front(all_.view);
    for (const Trial* trial : all_.view.trials) {
      if (trial->state != TrialState::complete) continue;
      const bool is_best = std::ranges::find(best, trial) != best.end();
      (is_best ? front : others)
          .points.push_back({trial->values[0], trial->values[1], kNoValue, kNoValue,
                             fmt::format("trial {}", trial->number)});
    }
    Panel panel{.x = {.label = objectives()[0].formula.text()},
                .y = {.label = objectives()[1].formula.text()}};
    panel.series = {others, front};
    return {.title = fmt::format("Pareto front; {}; one seed", made_on()), .panels = {panel}};
  }

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
      measure_after(made.model, before, f.subject.data, batch, kUsualMargin, context, "winner");
  return {both.after, both};
}

// "validation accuracy is +0.43 points from test (95 %: …)"
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

Json fields_of(const SearchFindings& f, const TrialModel& made, const Reported& reported,
               const fs::path& folder) {
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
                 {"parameters", findings.values_of(*f.winner.trial)},
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
                  grouped(count_trials(f.view).all()), findings.winner_text(), findings.runs_text(),
                  findings.made_on());
  const std::string flatters = same_part_warning(f.subject.data);
  return chosen + " " + (flatters.empty() ? "" : flatters + " ") +
         (reported.beside ? fmt::format("On {}: {}.", name_and_size(f.subject.data.measured),
                                        reported.beside->verdict.summary)
                          : figure_headline(name_and_size(f.subject.data.measured),
                                            reported.measured.evaluation));
}

std::vector<NamedEvaluation> evaluations_of(const SearchFindings& f, const Reported& reported) {
  if (reported.beside) return named_evaluations(*reported.beside, f.subject.data);
  return {{f.subject.data.measured.facts.part, reported.measured.evaluation}};
}

}  // namespace

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
  report.results = fields_of(f, made, reported, folder);
  report.headline = headline_of(f, reported);
  report.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  const Table best = findings.table();
  const std::string caption = fmt::format("The best of {}, on {}, by the first objective.",
                                          to_text(count_trials(f.view)), findings.made_on());
  const std::string gap = gap_text(f, made, reported.measured);
  const std::vector<NamedEvaluation> measured = evaluations_of(f, reported);
  const std::vector<std::string>& labels = made.model.facts.labels;
  const std::string stem =
      findings.objectives().size() > 1 ? "pareto_front" : "optimization_history";
  std::vector<std::string> undrawn;
  report.sections = {
      {"Result", {Paragraph{gap}, Paragraph{to_text(model_size(made.model, folder / "best"))}}},
      {"Trials",
       {figure_block(findings.figure(), folder / stem,
                     "Each trial's value, and the best so far; trials.csv has all of them.",
                     undrawn),
        PageTable{best, caption}}},
      details_section(measured, labels),
      {"The winner",
       {Preformatted{to_document(report.results["best"]["configuration"])}},
       /*folded=*/true},
      {"The space", {Preformatted{f.space.recipe().text}}, /*folded=*/true}};
  for (const std::string& name : f.dead)
    report.notes.push_back(fmt::format("{} changes nothing: it is searched in vain", name));
  const std::vector<std::string> doubts = concerns(reported.measured.evaluation, labels);
  for (const auto& lines : {doubts, undrawn})
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
  write_file(folder / "trials.csv", to_csv(findings.all_trials()));
  write_run_report(report, folder, context);
  for (const auto& lines : {doubts, undrawn}) tell_warnings(context, lines);
  SearchResult result{.fields = report.results};
  result.text = [=, headline = report.headline, counts = to_text(count_trials(f.view)),
                 reason = f.end.reason, destination = f.job.output.folder](const TextStyle& style) {
    return fmt::format("{}\n\n{}\n{}\n{}\n{}Ended by {}; one seed; the winner's model in {}/best\n",
                       headline, to_text(best, style), caption, gap,
                       details_text(measured, labels, style), reason, destination);
  };
  return result;
}

}  // namespace hone
