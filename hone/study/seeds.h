#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/seed_verdict.h"
#include "hone/metrics/seeds.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

/// A job repeated with several seeds: a folder and results for each, and their summary.
namespace hone {

/// The subfolder of an output folder for one seed.
struct SeedFolder {
  std::uint64_t seed = 0;
  fs::path path;      ///< OUT/seed-SEED
  bool done = false;  ///< an earlier run has written its results.json
};

/// Creates the missing folders of `count` seeds from `first` on, and returns all.
std::vector<SeedFolder> seed_folders(const fs::path& folder, std::uint64_t first,
                                     std::int64_t count);

/// Returns the main metric of one split or model ("test", "after", …) in every result. A result has the contents of
/// results.json.
std::vector<double> metric_of_seeds(const std::vector<Json>& results, const std::string& split);

/// Returns a row per seed: the metric with its interval and the loss for each of `metrics` in the results. If they
/// compare two models, also the flips and the change with their intervals.
Table seed_table(const std::vector<Json>& results, const std::vector<MetricsKey>& metrics);

/// Draws a dot for each seed's metric, for each of `metrics` in the results. Next to them is their mean, from five
/// seeds on with its 95% interval. "before" is one line if all seeds share that model.
Figure seed_figure(const std::vector<Json>& results, const std::vector<MetricsKey>& metrics,
                   const std::string& title);

/// Returns the spread of the main metric of one split or model over the seeds.
SeedSpread metric_spread(const std::vector<Json>& results, const std::string& split);
/// Returns "Accuracy on test, n = 500: 83.2% on average over 5 seeds …; always predicting the most frequent class
/// scores 50.1%."
std::string metric_headline_of_seeds(const std::vector<Json>& results, const MetricsKey& metrics);

/// Metric and loss over the seeds in results, by split or model ("test", "after", …).
struct SeedSpreads {
  EvaluationResult::ByName<SeedSpread> metric = {}, loss = {};
};
const Fields& fields_of(const SeedSpreads*);
/// Returns the spreads of those `splits` that the results contain.
SeedSpreads seed_spreads(const std::vector<Json>& results, const std::vector<std::string>& splits);

/// Returns "83.20% on average over 5 seeds (95% for other seeds on the same texts: 82.90 to 83.50; standard deviation
/// 0.24 points, 82.80 to 83.50)". For fewer than five seeds, or if all are equal, only the values: "83.50, 82.80,
/// 83.10% with 3 seeds; a spread needs at least 5".
std::string seed_sentence(const SeedSpread& spread);

/// Returns the changes in results that compare the metrics under `before` and `after`.
SeedChanges seed_changes(const std::vector<Json>& results, const std::string& before = "before",
                         const std::string& after = "after");

/// The change of a metric paired by seed, in results.
struct SeedChangeResult {
  SeedSpread spread;
  std::optional<double> paired_t_test_p = {};
  Verdict verdict = {};
};
const Fields& fields_of(const SeedChangeResult*);
SeedChangeResult seed_change_result(const SeedChanges& changes, const Verdict& verdict);

/// Returns doubts about the `metrics`, a sentence for all seeds with the same doubt: "after, test: the model predicts
/// one class only, 'good', with 3 of 10 seeds (42, 43, 46)".
std::vector<std::string> seed_concerns(const std::vector<Json>& results,
                                       const std::vector<MetricsKey>& metrics);

/// Returns "with 3 of 10 seeds (42, 43, 46)" or "with each of 10 seeds".
std::string seeds_text(const std::vector<std::int64_t>& seeds, std::size_t of);

}  // namespace hone
