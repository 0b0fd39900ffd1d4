#include "hone/jobs/search/study_comparison.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hone/base/text.h"
#include "hone/jobs/search/best_history.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/metrics/metric_name.h"
#include "hone/study/result.h"

namespace hone {
namespace {

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Returns none if it is not known.
std::optional<std::string> sampler_of(const DescribedStudy& study) {
  const Json& sampler = value_at(study.family, "sampler");
  return sampler.is_string() ? std::optional(sampler.get<std::string>()) : std::nullopt;
}

// Returns "tpe" for "tpe-1" and "tpe-2"; the sampler if the names have nothing in common.
std::string common_name(const std::vector<const DescribedStudy*>& studies) {
  std::string name = studies[0]->view.name;
  for (const DescribedStudy* study : studies) {
    const std::string& other = study->view.name;
    const auto end = std::ranges::mismatch(name, other).in1;
    name.erase(end, name.end());
  }
  while (!name.empty() &&
         std::string_view("-_. =0123456789").find(name.back()) != std::string::npos)
    name.pop_back();
  if (!name.empty()) return name;
  return sampler_of(*studies[0]).value_or(studies[0]->view.name);
}

bool are_same_family(const DescribedStudy& a, const DescribedStudy& b) {
  return !a.family.is_null() && a.family == b.family && a.seed && b.seed && *a.seed != *b.seed;
}

double best_of_study(const DescribedStudy& study) {
  const Trial* best = best_trial(study.view);
  return best == nullptr ? kNoValue : best->values[0];
}

// Returns the trials of each study until within reach of `target`; infinite if it never was.
std::vector<double> trials_to_reach(const StudyFamily& family, double target) {
  std::vector<double> trials;
  for (const DescribedStudy* study : family.studies) {
    const auto one = trials_until(study->view, target, kWithinReach);
    trials.push_back(one ? static_cast<double>(*one) : INFINITY);
  }
  return trials;
}

// "12", "7 (5 to 12)", "9 (5 to more than 40)".
std::string reach_text(const StudyFamily& family, double target) {
  const std::vector<double> trials = trials_to_reach(family, target);
  std::int64_t longest = 0;
  for (const DescribedStudy* study : family.studies) {
    longest = std::max(longest, std::ssize(trials_with_best(study->view)));
  }
  const auto text = [&](double count) {
    return std::isfinite(count) ? fmt::format("{:g}", count)
                                : fmt::format("more than {}", grouped(longest));
  };
  if (std::ranges::count(trials, trials[0]) == std::ssize(trials)) return text(trials[0]);
  const auto [least, most] = std::ranges::minmax(trials);
  return fmt::format("{} ({} to {})", text(median_of(trials)), text(least), text(most));
}

// "0.005"; for accuracies "0.5 points".
std::string within_text(const std::vector<StudyFamily>& families) {
  const bool is_accuracy = families.at(0).studies.at(0)->objectives.at(0) == kAccuracy.key;
  return is_accuracy ? fmt::format("{:g} points", 100 * kWithinReach)
                     : fmt::format("{}", kWithinReach);
}

std::vector<double> bests_of_studies(const StudyFamily& family) {
  std::vector<double> values;
  for (const DescribedStudy* study : family.studies)
    if (const double value = best_of_study(*study); std::isfinite(value)) values.push_back(value);
  return values;
}

std::string best_values_text(const StudyFamily& family) {
  const std::vector<double> values = bests_of_studies(family);
  if (values.empty()) return "none";
  const auto text = [](double value) { return rounded_text(value, kObjectiveDigits); };
  if (!family.has_several()) return text(values[0]);
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{} ({} to {})", text(median_of(values)), text(least), text(most));
}

Series family_curve(const std::vector<Series>& curves, const StudyFamily& family) {
  if (!family.has_several()) return curves[0];
  return band_of(curves, family.label, median_of,
                 fmt::format("median, least and greatest of {} seeds", curves.size()));
}

bool any_known_before(const std::vector<StudyFamily>& families) {
  return std::ranges::any_of(families, [](const StudyFamily& family) {
    return std::ranges::any_of(family.studies, [](const DescribedStudy* study) {
      return count_trials(study->view).cached > 0;
    });
  });
}

std::vector<std::int64_t> known_seeds(const StudyFamily& family) {
  std::vector<std::int64_t> seeds;
  for (const DescribedStudy* study : family.studies)
    if (study->seed) seeds.push_back(*study->seed);
  return seeds;
}

// "3 seeds (1, 2, 3)"; with many seeds "12 seeds (1 … 12)".
std::string seeds_text(const StudyFamily& family) {
  constexpr std::size_t kMostNamed = 6;
  const std::vector<std::int64_t> seeds = known_seeds(family);
  return fmt::format("{} seeds ({})", seeds.size(),
                     seeds.size() <= kMostNamed
                         ? fmt::format("{}", fmt::join(seeds, ", "))
                         : fmt::format("{} … {}", seeds.front(), seeds.back()));
}

// Returns its sampler if no other family has the same one, else its label.
std::string short_name(const StudyFamily& family, const std::vector<StudyFamily>& families) {
  const std::optional<std::string> sampler = sampler_of(*family.studies[0]);
  const auto has_it = [&](const StudyFamily& other) {
    return sampler_of(*other.studies[0]) == sampler;
  };
  return sampler && std::ranges::count_if(families, has_it) == 1 ? *sampler : family.label;
}

}  // namespace

std::vector<StudyFamily> families_of(const std::vector<DescribedStudy>& studies) {
  std::vector<StudyFamily> families;
  for (const DescribedStudy& study : studies) {
    const auto own = std::ranges::find_if(families, [&](const StudyFamily& family) {
      return std::ranges::all_of(family.studies, [&](const DescribedStudy* other) {
        return are_same_family(*other, study);
      });
    });
    if (own == families.end())
      families.push_back({study.view.name, {&study}});
    else
      own->studies.push_back(&study);
  }
  for (StudyFamily& family : families) {
    if (!family.has_several()) continue;
    std::ranges::sort(family.studies, {}, [](const DescribedStudy* study) { return *study->seed; });
    family.label = fmt::format("{}: {}", common_name(family.studies), seeds_text(family));
  }
  return families;
}

double best_of_all(const std::vector<StudyFamily>& families) {
  const Direction direction = families.at(0).studies.at(0)->view.directions[0];
  double least = INFINITY;
  for (const StudyFamily& family : families)
    for (const double value : bests_of_studies(family))
      least = std::min(least, loss_of(value, direction));
  return std::isfinite(least) ? loss_of(least, direction) : kNoValue;
}

Table comparison_table(const std::vector<StudyFamily>& families) {
  Table table(
      {{"studies", "Studies"},
       {"seeds", "Seeds"},
       {"best", "Best"},
       {"trials_to_reach", fmt::format("Trials to within {} of {}", within_text(families),
                                       rounded_text(best_of_all(families), kObjectiveDigits))}});
  const double target = best_of_all(families);
  for (const StudyFamily& family : families)
    table.add_row({family.label,
                   family.studies[0]->seed ? fmt::format("{}", fmt::join(known_seeds(family), ", "))
                                           : "not known",
                   best_values_text(family),
                   std::isfinite(target) ? reach_text(family, target) : "none"});
  return table;
}

const Fields& fields_of(const StudyFamilyResult*) {
  using F = StudyFamilyResult;
  static const Fields fields = describe<F>(
      "study_family", "Studies that differ only in their seed, or one study.",
      field<&F::label>("label", "Its name in the plot."),
      field<&F::sampler>("sampler", "The sampler of its trials; null: not known."),
      field<&F::studies>("studies", "Names of the studies, by seed."),
      field<&F::seeds>("seeds", "Seeds of the studies, without those that are not known."),
      field<&F::best>("best", "The best value of each study; null: it has none."),
      field<&F::trials_to_reach>("trials_to_reach",
                                 "Trials of each study until its best value was within 0.005 of "
                                 "the best of all studies; null: it never was."));
  return fields;
}

std::vector<StudyFamilyResult> family_results(const std::vector<StudyFamily>& families) {
  const double target = best_of_all(families);
  std::vector<StudyFamilyResult> results;
  for (const StudyFamily& family : families) {
    StudyFamilyResult& row =
        results.emplace_back(StudyFamilyResult{.label = family.label,
                                               .sampler = sampler_of(*family.studies[0]),
                                               .seeds = known_seeds(family)});
    for (const DescribedStudy* study : family.studies) {
      row.studies.push_back(study->view.name);
      const double best = best_of_study(*study);
      row.best.push_back(std::isfinite(best) ? std::optional(best) : std::nullopt);
      row.trials_to_reach.push_back(trials_until(study->view, target, kWithinReach));
    }
  }
  return results;
}

const Fields& fields_of(const StudyLeader*) {
  using L = StudyLeader;
  static const Fields fields = describe<L>(
      "study_leader",
      "The studies that came within 0.005 of the best value of all after the fewest trials, by the "
      "median over seeds.",
      field<&L::label>("label", "Their name in the plot."),
      field<&L::sampler>("sampler",
                         "The sampler of their trials; null: not known, or another sampler did as "
                         "well."),
      field<&L::summary>("summary", "The same in a sentence."));
  return fields;
}

std::optional<StudyLeader> leader_of(const std::vector<StudyFamily>& families) {
  const double target = best_of_all(families);
  if (!std::isfinite(target)) return std::nullopt;
  const Direction direction = families[0].studies[0]->view.directions[0];
  const auto rank = [&](const StudyFamily& family) {
    const std::vector<double> bests = bests_of_studies(family);
    return std::pair(median_of(trials_to_reach(family, target)),
                     bests.empty() ? INFINITY : loss_of(median_of(bests), direction));
  };
  const StudyFamily& first = *std::ranges::min_element(families, {}, rank);
  const double slowest = std::ranges::max(trials_to_reach(first, target));
  const std::optional<std::string> sampler = sampler_of(*first.studies[0]);
  std::vector<std::string> trials_of_all;
  bool leads = true;
  for (const StudyFamily& family : families) {
    trials_of_all.push_back(
        fmt::format("{} {}", short_name(family, families), reach_text(family, target)));
    if (sampler_of(*family.studies[0]) != sampler &&
        std::ranges::min(trials_to_reach(family, target)) <= slowest)
      leads = false;
  }
  return StudyLeader{
      .label = first.label,
      .sampler = leads ? sampler : std::nullopt,
      .summary = fmt::format("{}. {} to within {} of the best value: {}.",
                             leads ? fmt::format("{} is fastest with every seed",
                                                 capitalized(short_name(first, families)))
                                   : "No sampler is shown to be faster",
                             std::ranges::any_of(families, &StudyFamily::has_several)
                                 ? "Median trials (range over seeds)"
                                 : "Trials",
                             within_text(families), fmt::join(trials_of_all, ", "))};
}

Figure compared_histories(const std::vector<StudyFamily>& families) {
  const bool bands = std::ranges::any_of(families, &StudyFamily::has_several);
  Figure figure{.title = bands ? "Best so far; median and range of seeds" : "Best so far",
                .panels = {}};
  const DescribedStudy& first = *families.at(0).studies.at(0);
  const Axis y{.label = first.objectives.at(0),
               .better = better_end(first.view.directions.front())};
  Panel trials{.x = {.label = "Trial"}, .y = y};
  Panel seconds{
      .x = {.label = any_known_before(families) ? "Seconds of all trials (0 if from the cache)"
                                                : "Seconds of all trials"},
      .y = y};
  Panel cpu_seconds{.x = {.label = "CPU seconds of all trials"}, .y = y};
  for (const StudyFamily& family : families) {
    std::vector<Series> by_trial, by_seconds, by_cpu_seconds;
    for (const DescribedStudy* study : family.studies) {
      const BestHistory history = history_of(*study, family.label);
      by_trial.push_back(history.by_trial);
      by_seconds.push_back(history.by_seconds);
      by_cpu_seconds.push_back(history.by_cpu_seconds);
    }
    trials.series.push_back(family_curve(by_trial, family));
    seconds.series.push_back(family_curve(by_seconds, family));
    cpu_seconds.series.push_back(family_curve(by_cpu_seconds, family));
  }
  figure.panels.push_back(trials);
  const auto is_known = [](const Series& series) { return !series.points.empty(); };
  // CPU time is compared only if it is known for all.
  if (std::ranges::all_of(cpu_seconds.series, is_known))
    figure.panels.push_back(cpu_seconds);
  else if (std::erase_if(seconds.series, std::not_fn(is_known)); !seconds.series.empty())
    figure.panels.push_back(seconds);
  return figure;
}

}  // namespace hone
