#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/search/pruner.h"
#include "hone/search/pruners/reports.h"

namespace hone {
namespace {

class HyperbandPruner : public Pruner {
 public:
  explicit HyperbandPruner(const HyperbandOptions& options) : options_(options) {}

  PruneDecision decide(const StudyView& study, const Trial& trial) const override {
    const std::vector<std::int64_t> shares = bracket_shares(study);
    if (shares.empty()) return {};
    const std::int64_t bracket = bracket_of(study, shares, trial.number);
    return successive_halving_pruner({.min_resource = options_.min_resource,
                                      .reduction_factor = options_.reduction_factor,
                                      .min_early_stopping_rate = bracket})
        ->decide(of_bracket(study, shares, bracket), trial);
  }

  StudyView visible_to(const StudyView& study, std::int64_t number) const override {
    const std::vector<std::int64_t> shares = bracket_shares(study);
    return shares.empty() ? study : of_bracket(study, shares, bracket_of(study, shares, number));
  }

 private:
  // Returns the number of trials per bracket in a round. Empty: the maximum number of steps is not known yet.
  std::vector<std::int64_t> bracket_shares(const StudyView& study) const {
    std::int64_t most = options_.max_resource;
    if (most == 0) {
      const auto last = last_step_of_first_complete(study);
      if (!last) return {};
      most = *last + 1;
    }
    // Computed in double as in Optuna, so that its workers see the same brackets: 1 to 243 by 3 has one fewer than
    // exact arithmetic.
    const double factor = static_cast<double>(options_.reduction_factor);
    const double ratio = static_cast<double>(most) / static_cast<double>(options_.min_resource);
    const auto brackets =
        std::max<std::int64_t>(static_cast<std::int64_t>(std::log(ratio) / std::log(factor)), 0) +
        1;
    std::vector<std::int64_t> shares;
    for (std::int64_t behind = brackets - 1; behind >= 0; --behind)
      shares.push_back(static_cast<std::int64_t>(
          std::ceil(static_cast<double>(brackets) * std::pow(factor, static_cast<double>(behind)) /
                    static_cast<double>(behind + 1))));
    return shares;
  }

  static std::int64_t bracket_of(const StudyView& study, const std::vector<std::int64_t>& shares,
                                 std::int64_t number) {
    const std::string name = fmt::format("{}_{}", study.name, number);
    std::int64_t sum = 0;
    for (const std::int64_t share : shares) sum += share;
    auto place = static_cast<std::int64_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size())) %
        static_cast<uLong>(sum));
    std::int64_t bracket = 0;
    while (place >= shares[static_cast<std::size_t>(bracket)])
      place -= shares[static_cast<std::size_t>(bracket++)];
    return bracket;
  }

  static StudyView of_bracket(const StudyView& study, const std::vector<std::int64_t>& shares,
                              std::int64_t bracket) {
    StudyView result = study;
    std::erase_if(result.trials, [&](const Trial* trial) {
      return bracket_of(study, shares, trial->number) != bracket;
    });
    return result;
  }

  HyperbandOptions options_;
};

}  // namespace

std::unique_ptr<Pruner> hyperband_pruner(const HyperbandOptions& options) {
  user_check(options.min_resource >= 1 &&
                 (options.max_resource == 0 || options.max_resource >= options.min_resource),
             "Hyperband from {} to {} steps: expected 1 or more, the lower number first",
             options.min_resource, options.max_resource);
  user_check(options.reduction_factor >= 2, "Hyperband by {}: expected 2 or more",
             options.reduction_factor);
  return std::make_unique<HyperbandPruner>(options);
}

}  // namespace hone
