#include "hone/search/engine/trial_run.h"

#include <algorithm>
#include <cmath>

#include "hone/base/interrupt.h"

namespace hone {
namespace {

TrialEnd failed(const std::string& reason) {
  TrialEnd end{.state = TrialState::fail};
  end.change.user_attributes["fail_reason"] = reason;
  return end;
}

}  // namespace

StudyRun::StudyRun(StudyStorage& storage, const Study& study, const Pruner& pruner,
                   const SearchOptions& options, TrialTable& table, Trial trial)
    : storage_(storage),
      study_(study),
      pruner_(pruner),
      options_(options),
      table_(table),
      trial_(std::move(trial)),
      values_(assignment_of(trial_.parameters)) {}

bool StudyRun::report(std::int64_t step, double value) {
  user_check(step >= 0, "a report of step {}: expected 0 or more", step);
  user_check(study_.directions.size() == 1,
             "a report of a trial of {} objectives: only trials of one are pruned",
             study_.directions.size());
  trial_.reports.emplace(step, value);
  const PruneDecision decision = pruner_.decide(others(), trial_);
  for (const auto& [key, attribute] : decision.system_attributes)
    trial_.system_attributes[key] = attribute;
  store([&] {
    storage_.write(trial_.id,
                   {.reports = {{step, value}}, .system_attributes = decision.system_attributes});
  });
  return decision.prune;
}

const StudyView& StudyRun::others() {
  if (known_ && !options_.asynchronous) return others_;
  if (options_.asynchronous) store([&] { storage_.read_trials(study_.id, table_); });
  known_.emplace(study_, table_, trial_.number, options_);
  others_ = finished_of(points_of(known_->all()));
  // This trial takes the place of the trial that it continues.
  if (const auto origin = number_in(trial_.user_attributes, "continues"))
    std::erase_if(others_.trials, [&](const Trial* other) {
      return other->number == *origin || number_in(other->user_attributes, "continues") == *origin;
    });
  return others_;
}

void StudyRun::set_user_attribute(const std::string& key, const Json& value) {
  trial_.user_attributes[key] = value;
  store([&] { storage_.write(trial_.id, {.user_attributes = {{key, value}}}); });
}

void StudyRun::store(FunctionRef<void()> access) {
  try {
    access();
  } catch (...) {
    storage_failure_ = std::current_exception();
    throw;
  }
}

TrialEnd StudyRun::end_of(const Objective& objective) {
  const auto failure = [&](const char* what) {
    // An error of the storage passed through the objective, which is not at fault.
    if (storage_failure_) std::rethrow_exception(storage_failure_);
    return failed(what);
  };
  try {
    return end_of(objective(*this));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    return failure(error.what());
  }
}

TrialEnd StudyRun::end_of(const TrialOutcome& outcome) const {
  if (storage_failure_) std::rethrow_exception(storage_failure_);
  TrialEnd end{.state = outcome.state};
  if (outcome.state == TrialState::complete) {
    if (outcome.values.size() != study_.directions.size())
      end = failed(fmt::format("it returned {} values, its study has {} objectives",
                               outcome.values.size(), study_.directions.size()));
    else if (std::any_of(outcome.values.begin(), outcome.values.end(),
                         [](double value) { return std::isnan(value); }))
      end = failed("its value is not a number");
    else
      end.values = outcome.values;
  } else if (outcome.state == TrialState::pruned) {
    if (!trial_.reports.empty() && !std::isnan(trial_.reports.rbegin()->second))
      end.values = {trial_.reports.rbegin()->second};
  } else if (outcome.state == TrialState::fail) {
    end = failed(outcome.failure.empty() ? "its objective gave no reason" : outcome.failure);
  } else {
    end = failed(fmt::format("its objective returned the state {}", to_string(outcome.state)));
  }
  for (const auto& attribute : outcome.user_attributes)
    end.change.user_attributes.insert(attribute);
  if (!outcome.constraints.empty())
    end.change.system_attributes["constraints"] = outcome.constraints;
  return end;
}

}  // namespace hone
