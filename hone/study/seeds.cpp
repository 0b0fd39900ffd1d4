#include "hone/study/seeds.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/verdict_text.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kShared = "before";  // the key of a model that may be the same for all seeds
constexpr double kBesideDots = 0.3;        // distance of the mean from the dots, in rows

std::vector<double> values(const std::vector<Json>& results, const std::string& split,
                           const char* key) {
  std::vector<double> found;
  for (const Json& result : results) found.push_back(number_or_nan(result.at(split).at(key)));
  return found;
}

}  // namespace

std::vector<SeedFolder> seed_folders(const fs::path& folder, std::uint64_t first,
                                     std::int64_t count) {
  std::vector<SeedFolder> folders;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    const fs::path path = folder / fmt::format("seed-{}", seed);
    std::error_code error;
    fs::create_directories(path, error);
    user_check(!error, "{}: cannot create the folder: {}", path.string(), error.message());
    folders.push_back({seed, path, fs::exists(path / "results.json", error)});
  }
  return folders;
}

std::vector<double> metric_of_seeds(const std::vector<Json>& results, const std::string& split) {
  std::vector<double> found;
  for (const Json& result : results) found.push_back(metric_estimate(result.at(split)).value);
  return found;
}

SeedSpread metric_spread(const std::vector<Json>& results, const std::string& split) {
  return metric_spread(main_metric_of(results.front().at(split)), metric_of_seeds(results, split));
}

std::string metric_headline_of_seeds(const std::vector<Json>& results, const MetricsKey& metrics) {
  const Json& first = results.front().at(metrics.key);
  return fmt::format("{} on {}: {}; {}.", metric_title(main_metric_of(first)),
                     split_text(metrics, results.front()),
                     seed_sentence(metric_spread(results, metrics.key)),
                     constant_baseline_text(first));
}

namespace {

// Returns a metric of a result with its interval in a `cell`; absent without an interval.
Cell with_interval(const Json& metrics, const std::string& key, const std::string& interval_key,
                   Cell (*cell)(double, double, double)) {
  const Json& interval = metrics.at(interval_key);
  if (interval.is_null()) return absent;
  return cell(number_or_nan(metrics.at(key)), number_or_nan(interval.at(0)),
              number_or_nan(interval.at(1)));
}

std::vector<MetricsKey> those_in(const Json& result, std::vector<MetricsKey> metrics) {
  std::erase_if(metrics,
                [&](const MetricsKey& one) { return !value_at(result, one.key).is_object(); });
  return metrics;
}

}  // namespace

Table seed_table(const std::vector<Json>& results, const std::vector<MetricsKey>& metrics) {
  const bool compared = value_at(results.front(), "comparison").is_object();
  const std::vector<MetricsKey> present = those_in(results.front(), metrics);
  const MetricName metric =
      present.empty() ? kAccuracy : main_metric_of(results.front().at(present.front().key));
  std::vector<Column> columns = {{"seed", "Seed"}};
  for (const MetricsKey& one : present) {
    columns.push_back({fmt::format("{}_{}", one.key, metric.key),
                       fmt::format("{} ({})", metric_title(metric), one.key)});
    columns.push_back({one.key + "_loss", fmt::format("Loss ({})", one.key)});
  }
  if (compared) {
    columns.push_back({"change", "Change"});
    columns.push_back(difference_column(metric));
  }
  Table table(std::move(columns));
  for (const Json& result : results) {
    std::vector<Cell> row = {std::to_string(result.at("seed").get<std::int64_t>())};
    for (const MetricsKey& one : present) {
      const Json& measured = result.at(one.key);
      row.emplace_back(metric_estimate(measured));
      row.push_back(real(number_or_nan(measured.at("eval_loss")), 4));
    }
    if (compared) {
      const Json& comparison = result.at("comparison");
      row.push_back(with_interval(comparison, "change", "change_interval", points_within));
      row.push_back(!comparison.at("flip_share").is_null()
                        ? with_interval(comparison, "flip_share", "flip_interval", flips_within)
                        : real(number_or_nan(comparison.at("mean_shift")), 4));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Figure seed_figure(const std::vector<Json>& results, const std::vector<MetricsKey>& metrics,
                   const std::string& title) {
  Series dots{.label = "one seed", .draw = Draw::points},
      means{.label = "mean", .draw = Draw::points, .spread = Spread::bars};
  Panel panel;
  for (const auto& [key, name, cautions] : those_in(results.front(), metrics)) {
    panel.y.label = metric_title(main_metric_of(results.front().at(key))) + " (%)";
    const SeedSpread s = metric_spread(results, key);
    if (key == kShared && s.least == s.greatest) {
      panel.references.push_back(
          {100 * s.mean, fmt::format("{}, one model for all seeds: {}", key, share_text(s.mean))});
      continue;
    }
    const auto row = static_cast<double>(panel.x.ticks.size());
    panel.x.ticks.push_back({row, split_text({key, name, cautions}, results.front())});
    for (const Json& result : results) {
      Point dot{row, 100 * metric_estimate(result.at(key)).value};
      dot.name = fmt::format("seed {}, {}", result.at("seed").get<std::int64_t>(), name);
      dots.points.push_back(std::move(dot));
    }
    Point mean{row + kBesideDots, 100 * s.mean};
    if (s.interval) {
      mean.low = 100 * s.interval->low;
      mean.high = 100 * s.interval->high;
      means.label = "mean, with its 95% interval";
    }
    mean.name = name;
    means.points.push_back(std::move(mean));
  }
  panel.x.range = Range{-0.5, static_cast<double>(panel.x.ticks.size()) - 0.5};
  panel.series = {dots, means};
  return {.title = title, .panels = {panel}, .width = 640, .height = 420};
}

const Fields& fields_of(const SeedSpreads*) {
  using S = SeedSpreads;
  static const Fields fields = describe<S>(
      "seed_spreads", "Metric and loss over several seeds.",
      field<&S::metric>("metric_spread", "Of the metric that is judged, by split or model."),
      field<&S::loss>("loss_spread", "Of the loss, by split or model."));
  return fields;
}

SeedSpreads seed_spreads(const std::vector<Json>& results, const std::vector<std::string>& splits) {
  SeedSpreads spreads;
  for (const std::string& split : splits) {
    if (!value_at(results.front(), split).is_object()) continue;
    spreads.metric.emplace_back(split, metric_spread(results, split));
    spreads.loss.emplace_back(split, seed_spread(values(results, split, "eval_loss")));
  }
  return spreads;
}

std::string seed_sentence(const SeedSpread& s) {
  if (s.count == 1) return fmt::format("{} with one seed", share_text(s.mean));
  if (s.count < kFewestSeeds)
    return fmt::format("{} with {} seeds; a spread needs at least {}", shares_text(s.values),
                       s.count, kFewestSeeds);
  if (!s.interval) return fmt::format("{} with each of {} seeds", share_text(s.mean), s.count);
  return fmt::format(
      "{} on average over {} seeds (95% for other seeds on the same texts: {} to {}; standard "
      "deviation {} points, {} to {})",
      share_text(s.mean), s.count, percent_number(s.interval->low),
      percent_number(s.interval->high), percent_number(*s.deviation, kDifferenceDigits),
      percent_number(s.least), percent_number(s.greatest));
}

namespace {

std::int64_t samples_of(const Json& measurement) { return measurement.at("eval_samples"); }

double evidence_of(const Json& measurement) {
  return measurement.at("eval_effective_samples").get<double>() /
         static_cast<double>(samples_of(measurement));
}

// Returns the counts of a result that a verdict needs.
Comparison counted(const Json& measurement, const Json& comparison) {
  return {.examples = samples_of(measurement),
          .evidence = evidence_of(measurement),
          .flip_share = number_or_nan(comparison.at("flip_share")),
          .flip_interval = {},
          .only_baseline = comparison.at("only_baseline_right"),
          .only_candidate = comparison.at("only_candidate_right"),
          .mcnemar_p = comparison.at("mcnemar_p")};
}

MetricChange ratio_change_of(const MetricName& metric, const Json& measurement,
                             const Json& comparison) {
  const Json& interval = comparison.at("change_interval");
  const std::int64_t examples = samples_of(measurement);
  if (interval.is_null()) return {.metric = metric, .examples = examples, .change = std::nan("")};
  return ratio_change(
      metric, examples, evidence_of(measurement),
      {number_or_nan(comparison.at("change")), number_or_nan(comparison.at("change_half_width")),
       comparison.at("distinct_examples"), comparison.at("differing_examples")});
}

double mean_of(const std::vector<Json>& comparisons, const char* key) {
  double sum = 0;
  for (const Json& one : comparisons) sum += number_or_nan(one.at(key));
  return sum / static_cast<double>(comparisons.size());
}

}  // namespace

SeedChanges seed_changes(const std::vector<Json>& results, const std::string& before,
                         const std::string& after) {
  SeedChanges changes{.before = metric_of_seeds(results, before),
                      .after = metric_of_seeds(results, after)};
  const MetricName metric = main_metric_of(results.front().at(after));
  std::vector<Json> compared;
  for (const Json& result : results) {
    compared.push_back(result.at("comparison"));
    changes.changes.push_back(metric == kAccuracy
                                  ? accuracy_change(counted(result.at(after), compared.back()))
                                  : ratio_change_of(metric, result.at(after), compared.back()));
  }
  changes.notes = seed_notes(metric, mean_of(compared, metric == kR2        ? "mean_shift"
                                                       : metric == kMicroF1 ? "answer_flip_share"
                                                                            : "flip_share"));
  return changes;
}

const Fields& fields_of(const SeedChangeResult*) {
  using S = SeedChangeResult;
  static const Fields fields = describe<S>(
      "seed_change", "The change of a metric between two models, paired by seed.",
      inlined<&S::spread>(),
      field<&S::paired_t_test_p>("paired_t_test_p",
                                 "Two-sided p-value of the paired t-test; null under five seeds, "
                                 "and where all changes are equal."),
      inlined<&S::verdict>());
  return fields;
}

SeedChangeResult seed_change_result(const SeedChanges& changes, const Verdict& verdict) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < changes.before.size(); ++i)
    differences.push_back(changes.after[i] - changes.before[i]);
  const std::optional<double> p = paired_t_test(differences);
  return {change_spread(changes.metric(), changes.before, changes.after), p, verdict};
}

namespace {

// Returns doubts about the metrics of one seed, in the same words for every seed with that doubt.
std::vector<std::string> doubts_of(const Json& metrics) {
  std::vector<std::string> doubts;
  const Json only = metrics.value("eval_only_predicts", Json());
  if (only.is_string())
    doubts.push_back(fmt::format("the model predicts one class only, '{}',",
                                 shown_name(only.get<std::string>())));
  if (!only.is_string() && metrics.value("eval_classes", Json()).is_object())
    for (const auto& [label, one] : metrics["eval_classes"].items())
      if (one.value("support", 0) > 0 && one.value("predicted", 1) == 0)
        doubts.push_back(fmt::format("the model never predicts '{}'", shown_name(label)));
  if (metrics.value("eval_without_prediction", 0) > 0)
    doubts.push_back(
        "there are texts without a prediction, as the model's outputs are no finite "
        "numbers,");
  return doubts;
}

}  // namespace

std::string seeds_text(const std::vector<std::int64_t>& seeds, std::size_t of) {
  if (seeds.size() == of) return fmt::format("with each of {} seeds", of);
  return fmt::format("with {} of {} seeds ({})", seeds.size(), of, fmt::join(seeds, ", "));
}

std::vector<std::string> seed_concerns(const std::vector<Json>& results,
                                       const std::vector<MetricsKey>& metrics) {
  std::vector<std::string> sentences;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> seeds_by_doubt;
  const auto add = [&](const Json& result, const std::string& doubt) {
    auto found =
        std::ranges::find(seeds_by_doubt, doubt, &decltype(seeds_by_doubt)::value_type::first);
    if (found == seeds_by_doubt.end()) found = seeds_by_doubt.insert(found, {doubt, {}});
    found->second.push_back(result.at("seed").get<std::int64_t>());
  };
  for (const auto& [key, name, cautions] : those_in(results.front(), metrics))
    for (const Json& result : results)
      for (const std::string& doubt : doubts_of(result.at(key)))
        add(result, fmt::format("{}: {}", name, doubt));
  for (const Json& result : results)
    for (const Json& lost : result.value("lost_classes", Json::array()))
      add(result, fmt::format("recall of '{}' fell significantly",
                              shown_name(lost.at("class").get<std::string>())));
  for (const auto& [doubt, seeds] : seeds_by_doubt)
    sentences.push_back(fmt::format("{} {}", doubt, seeds_text(seeds, results.size())));
  return sentences;
}

}  // namespace hone
