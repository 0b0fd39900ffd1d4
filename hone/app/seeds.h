#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/comparison.h"
#include "hone/metrics/seeds.h"
#include "hone/report/table.h"

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

/// Accuracies of one part ("test", "after", …) of every result, in their order. A result is what results.json has.
std::vector<double> accuracies(const std::vector<Json>& results, const std::string& part);

/// A row per seed and two for mean and standard deviation; accuracy and loss of every one of `parts` that is there.
Table seed_table(const std::vector<Json>& results, const std::vector<std::string>& parts);

/// Mean, deviation, ends and 95 % interval of the accuracy, as JSON.
Json to_json(const SeedSpread& spread);

/// "83.20 % on average over 5 seeds (95 %: 82.90 to 83.50; standard deviation 0.24 points, 82.80 to 83.50)"
std::string seed_sentence(const std::vector<double>& accuracies);

/// The change from one list of accuracies to the other, seed by seed, with the paired t-test.
/// "worse by 0.40 points on average over 5 seeds (95 %: -0.70 to -0.10; p = 0.02, paired t-test)"
std::string paired_sentence(const std::vector<double>& before, const std::vector<double>& after);
/// The loss of accuracy over the seeds against what is allowed, a share; the far end of its interval counts.
Gate gate_of_seeds(const std::vector<double>& before, const std::vector<double>& after,
                   double max_drop);
Json paired_json(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace hone
