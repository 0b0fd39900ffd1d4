#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/search/pruner.h"
#include "hone/search/pruners/reports.h"

namespace hone {
namespace {

class PatientPruner : public Pruner {
 public:
  PatientPruner(std::unique_ptr<Pruner> inner, std::int64_t patience, double min_delta)
      : inner_(std::move(inner)), patience_(patience), min_delta_(min_delta) {}

  PruneDecision decide(const StudyView& study, const Trial& trial) const override {
    const auto count = static_cast<std::int64_t>(trial.reports.size());
    if (count <= patience_ + 1) return {};
    const Direction direction = study.directions[0];
    double before = std::numeric_limits<double>::quiet_NaN(), since = before;
    std::int64_t place = 0;
    for (const auto& [step, value] : trial.reports) {
      double& best = place++ < count - patience_ - 1 ? before : since;
      best = better_of(best, value, direction);
    }
    // False if either is NaN.
    const bool stands = direction == Direction::minimize ? before + min_delta_ < since
                                                         : before - min_delta_ > since;
    if (!stands) return {};
    return inner_ ? inner_->decide(study, trial) : PruneDecision{.prune = true};
  }

  StudyView visible_to(const StudyView& study, std::int64_t number) const override {
    return inner_ ? inner_->visible_to(study, number) : study;
  }

 private:
  std::unique_ptr<Pruner> inner_;
  std::int64_t patience_;
  double min_delta_;
};

}  // namespace

std::unique_ptr<Pruner> patient_pruner(std::unique_ptr<Pruner> inner, std::int64_t patience,
                                       double min_delta) {
  user_check(patience >= 0 && min_delta >= 0,
             "a patience of {} steps without {} better: expected 0 or more", patience, min_delta);
  return std::make_unique<PatientPruner>(std::move(inner), patience, min_delta);
}

}  // namespace hone
