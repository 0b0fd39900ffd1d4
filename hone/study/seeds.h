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

/// A job repeated with several seeds: a folder and results of its own for each, and what they say together.
namespace hone {

/// The part of an output folder that one seed fills.
struct SeedFolder {
  std::uint64_t seed = 0;
  fs::path path;      ///< OUT/seed-SEED
  bool done = false;  ///< by an earlier run: it has results.json
};

/// Makes the folders of `count` seeds from `first` on, those that are missing.
std::vector<SeedFolder> seed_folders(const fs::path& folder, std::uint64_t first,
                                     std::int64_t count);

/// The figures by which one part ("test", "after", …) of every result is judged, in their order. A result is what results.json
/// has.
std::vector<double> figures_of_seeds(const std::vector<Json>& results, const std::string& part);

/// A row per seed: that figure with its interval and loss of all `figures` that are there, and where the results compare two
/// models the flips and the change with theirs.
Table seed_table(const std::vector<Json>& results, const std::vector<NamedFigures>& figures);

/// A dot for the figure of each seed of all `figures` that are there, beside them their mean, from five seeds on with its
/// 95% interval. What all seeds share, "before", is one line.
Figure seed_figure(const std::vector<Json>& results, const std::vector<NamedFigures>& figures,
                   const std::string& title);

/// The figures of one part over the seeds.
SeedSpread metric_spread(const std::vector<Json>& results, const std::string& part);
/// "Accuracy on test, n = 500: 83.2% on average over 5 seeds …; the most frequent class alone makes 50.1%."
std::string metric_headline_of_seeds(const std::vector<Json>& results, const NamedFigures& figures);

/// Metric and loss over the seeds in results, by what was measured ("test", "after", …).
struct SeedSpreads {
  EvaluationResult::ByName<SeedSpread> metric = {}, loss = {};
};
const Fields& fields_of(const SeedSpreads*);
/// Of those `parts` that the results have.
SeedSpreads seed_spreads(const std::vector<Json>& results, const std::vector<std::string>& parts);

/// "83.20% on average over 5 seeds (95% for other seeds on the same texts: 82.90 to 83.50; standard deviation 0.24 points,
/// 82.80 to 83.50)". Under five seeds, and where all are the same, the values alone: "83.50, 82.80, 83.10% with 3 seeds; it
/// takes 5 to tell a spread".
std::string seed_sentence(const SeedSpread& figures);

/// Of results that compare the figures called `before` with those called `after`.
SeedChanges seed_changes(const std::vector<Json>& results, const std::string& before = "before",
                         const std::string& after = "after");

/// The change seed by seed in results.
struct SeedChangeResult {
  SeedSpread spread;
  std::optional<double> paired_t_test_p = {};
  Verdict verdict = {};
};
const Fields& fields_of(const SeedChangeResult*);
SeedChangeResult seed_change_result(const SeedChanges& changes, const Verdict& verdict);

/// What speaks against the `figures`, a sentence for all seeds of which it does: "after, test: the model predicts one class
/// only, 'good', with 3 of 10 seeds (42, 43, 46)".
std::vector<std::string> seed_concerns(const std::vector<Json>& results,
                                       const std::vector<NamedFigures>& figures);

/// "with 3 of 10 seeds (42, 43, 46)", "with each of 10 seeds".
std::string seeds_text(const std::vector<std::int64_t>& seeds, std::size_t of);

}  // namespace hone
