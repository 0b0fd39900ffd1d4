#include "hone/jobs/search/study_comparison.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/jobs/search/best_history.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// Of an odd number the middle one, of an even one the mean of the two in the middle.
double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// "tpe-1", "tpe-2": "tpe"; of names that have nothing in common what chose the trials.
std::string common_name(const std::vector<const ShownStudy*>& studies) {
  std::string name = studies[0]->view.name;
  for (const ShownStudy* study : studies) {
    const std::string& other = study->view.name;
    const auto end = std::ranges::mismatch(name, other).in1;
    name.erase(end, name.end());
  }
  while (!name.empty() &&
         std::string_view("-_. =0123456789").find(name.back()) != std::string::npos)
    name.pop_back();
  if (!name.empty()) return name;
  const Json& sampler = value_at(studies[0]->family, "sampler");
  return sampler.is_string() ? sampler.get<std::string>() : studies[0]->view.name;
}

bool are_of_a_family(const ShownStudy& a, const ShownStudy& b) {
  return !a.family.is_null() && a.family == b.family && a.seed && b.seed && *a.seed != *b.seed;
}

double best_of_study(const ShownStudy& study) {
  const Trial* best = best_trial(study.view);
  return best == nullptr ? kNoValue : best->values[0];
}

// "12", "7 (5 to 12)", "9 (5 to more than 40)".
std::string reach_text(const StudyFamily& family, double target) {
  std::vector<double> trials;
  std::int64_t longest = 0;
  for (const ShownStudy* study : family.studies) {
    const auto one = trials_until(study->view, target, kWithinReach);
    trials.push_back(one ? static_cast<double>(*one) : INFINITY);
    longest = std::max(longest, std::ssize(trials_on_the_way(study->view)));
  }
  const auto text = [&](double count) {
    return std::isfinite(count) ? fmt::format("{:g}", count)
                                : fmt::format("more than {}", grouped(longest));
  };
  if (std::ranges::count(trials, trials[0]) == std::ssize(trials)) return text(trials[0]);
  const auto [least, most] = std::ranges::minmax(trials);
  return fmt::format("{} ({} to {})", text(median_of(trials)), text(least), text(most));
}

std::vector<double> bests_of_studies(const StudyFamily& family) {
  std::vector<double> values;
  for (const ShownStudy* study : family.studies)
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

bool any_known_before(const std::vector<StudyFamily>& families) {
  return std::ranges::any_of(families, [](const StudyFamily& family) {
    return std::ranges::any_of(family.studies, [](const ShownStudy* study) {
      return count_trials(study->view).cached > 0;
    });
  });
}

std::vector<std::int64_t> known_seeds(const StudyFamily& family) {
  std::vector<std::int64_t> seeds;
  for (const ShownStudy* study : family.studies)
    if (study->seed) seeds.push_back(*study->seed);
  return seeds;
}

// "3 seeds (1, 2, 3)", of many "12 seeds (1 … 12)".
std::string seeds_text(const StudyFamily& family) {
  constexpr std::size_t kMostNamed = 6;
  const std::vector<std::int64_t> seeds = known_seeds(family);
  return fmt::format("{} seeds ({})", seeds.size(),
                     seeds.size() <= kMostNamed
                         ? fmt::format("{}", fmt::join(seeds, ", "))
                         : fmt::format("{} … {}", seeds.front(), seeds.back()));
}

}  // namespace

std::vector<StudyFamily> families_of(const std::vector<ShownStudy>& studies) {
  std::vector<StudyFamily> families;
  for (const ShownStudy& study : studies) {
    const auto own = std::ranges::find_if(families, [&](const StudyFamily& family) {
      return std::ranges::all_of(
          family.studies, [&](const ShownStudy* other) { return are_of_a_family(*other, study); });
    });
    if (own == families.end())
      families.push_back({study.view.name, {&study}});
    else
      own->studies.push_back(&study);
  }
  for (StudyFamily& family : families) {
    if (!family.has_several()) continue;
    std::ranges::sort(family.studies, {}, [](const ShownStudy* study) { return *study->seed; });
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
      {{"studies", "Studies", false},
       {"seeds", "Seeds", false},
       {"best", "Best"},
       {"trials_to_reach", fmt::format("Trials to within {} of {}", kWithinReach,
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

Json to_json(const std::vector<StudyFamily>& families) {
  const double target = best_of_all(families);
  Json rows = Json::array();
  for (const StudyFamily& family : families) {
    Json names = Json::array(), best = Json::array(), reach = Json::array();
    for (const ShownStudy* study : family.studies) {
      names.push_back(study->view.name);
      best.push_back(best_of_study(*study));
      const auto trials =
          std::isfinite(target) ? trials_until(study->view, target, kWithinReach) : std::nullopt;
      reach.push_back(trials ? Json(*trials) : Json(nullptr));
    }
    rows.push_back({{"label", family.label},
                    {"studies", names},
                    {"seeds", known_seeds(family)},
                    {"best", best},
                    {"trials_to_reach", reach}});
  }
  return rows;
}

Figure compared_histories(const std::vector<StudyFamily>& families) {
  const bool bands = std::ranges::any_of(families, &StudyFamily::has_several);
  Figure figure{.title = bands ? "Best so far; median and range of seeds" : "Best so far",
                .panels = {}};
  const Axis y{.label = families.at(0).studies.at(0)->objectives.at(0)};
  Panel trials{.x = {.label = "Trial"}, .y = y},
      seconds{.x = {.label = any_known_before(families)
                                 ? "Seconds of all trials together (0 if known before)"
                                 : "Seconds of all trials together"},
              .y = y};
  for (const StudyFamily& family : families) {
    std::vector<Series> by_trial, by_seconds;
    for (const ShownStudy* study : family.studies) {
      const BestHistory history = history_of(*study, family.label);
      by_trial.push_back(history.by_trial);
      if (history.has_seconds()) by_seconds.push_back(history.by_seconds);
    }
    const bool all_have_seconds = by_seconds.size() == family.studies.size();
    if (family.has_several()) {
      const std::string detail =
          fmt::format("median, least and greatest of {} seeds", family.studies.size());
      by_trial = {band_of(by_trial, family.label, median_of, detail)};
      if (all_have_seconds) by_seconds = {band_of(by_seconds, family.label, median_of, detail)};
    }
    trials.series.push_back(by_trial[0]);
    if (all_have_seconds) seconds.series.push_back(by_seconds[0]);
  }
  figure.panels.push_back(trials);
  if (!seconds.series.empty()) figure.panels.push_back(seconds);
  return figure;
}

}  // namespace hone
