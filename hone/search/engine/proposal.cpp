#include "hone/search/engine/proposal.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/random.h"
#include "hone/search/engine/duplicates.h"
#include "hone/search/engine/promotion.h"
#include "hone/search/engine/recovery.h"
#include "hone/search/engine/repeats.h"

namespace hone {
namespace {

constexpr int kFreshDraws = 4;                           // before a small space is enumerated
constexpr int kDraws = 100;                              // attempts, if the space objects
constexpr std::int64_t kRedraw = std::int64_t{1} << 40;  // above any trial's number

void check_options(const SearchOptions& options) {
  user_check(options.concurrency >= 1, "a `concurrency` of {}: expected 1 or more",
             options.concurrency);
  user_check(options.trials >= 0 && options.seconds >= 0 && options.patience >= 0 &&
                 options.retries >= 0 && options.repeats >= 0,
             "`trials` {}, `seconds` {}, `patience` {}, `retries` {}, `repeats` {}: expected 0 or "
             "more of each",
             options.trials, options.seconds, options.patience, options.retries, options.repeats);
  user_check(options.heartbeat_seconds > 0, "`heartbeat_seconds` {}: expected more than 0",
             options.heartbeat_seconds);
  user_check(options.promote_by == 0 || options.promote_by >= 2,
             "`promote_by` {}: expected 2 or more, or 0", options.promote_by);
  user_check(options.repeats == 0 || options.repeat_top >= 1, "`repeat_top` {}: expected 1 or more",
             options.repeat_top);
  user_check(!options.space.parameters.empty(), "the search space has no parameters");
  user_check(options.directions.size() == 1 || (options.repeats == 0 && options.promote_by == 0),
             "a study of {} objectives: repeating or promoting the best trials needs a "
             "single objective",
             options.directions.size());
}

// Returns whether a is at least as good as b for every objective.
bool as_good(const Trial& a, const Trial& b, const std::vector<Direction>& directions) {
  for (std::size_t i = 0; i < directions.size(); ++i)
    if (loss_of(a.values[i], directions[i]) > loss_of(b.values[i], directions[i])) return false;
  return true;
}

// Returns the number of copies of lost trials with lower numbers.
std::int64_t count_copies(const TrialTable& table, std::int64_t number) {
  return std::count_if(table.begin(), table.end(), [&](const auto& trial) {
    return trial->number < number && trial->system_attributes.contains("failed_trial");
  });
}

// Copies draw nothing, so they are not counted: later draws are those of a study without interruptions.
std::int64_t number_of_draw(const TrialTable& table, const Trial& trial) {
  return trial.number - count_copies(table, trial.number);
}

}  // namespace

std::int64_t trials_without_gain(const StudyView& points) {
  std::vector<const Trial*> best;
  std::int64_t without = 0;
  for (const Trial* trial : points.trials) {
    if (trial->state != TrialState::complete) continue;
    ++without;
    if (trial->values.size() != points.directions.size() || trial->violation() > 0) continue;
    const auto beats = [&](const Trial* a, const Trial* b) {
      return as_good(*a, *b, points.directions);
    };
    if (std::any_of(best.begin(), best.end(), [&](const Trial* b) { return beats(b, trial); }))
      continue;
    std::erase_if(best, [&](const Trial* b) { return beats(trial, b); });
    best.push_back(trial);
    without = 0;
  }
  return without;
}

Proposer::Proposer(const Study& study, Sampler& sampler, const Pruner& pruner,
                   const SearchOptions& options)
    : study_(study),
      sampler_(sampler),
      pruner_(pruner),
      options_(options),
      finite_(is_finite(options.space)) {
  check_options(options);
}

bool Proposer::exceeds_budget(const TrialTable& table, std::int64_t number) const {
  if (options_.trials == 0 || number < options_.trials) return false;
  return number >= options_.trials + count_copies(table, next_number(table));
}

StudyView Proposer::sampler_view(const KnownTrials& known, std::int64_t number) {
  StudyView view = points_of(known.all());
  if (options_.penalize_failures) failures_.show(view);
  return pruner_.visible_to(view, number);
}

// A draw is a function of the number, so a redraw uses a number that no trial will ever have.
Trial Proposer::drawn(const StudyView& view, const Trial& trial, std::int64_t number, int draw,
                      std::string& objection) {
  Trial attempt = trial;
  attempt.number = number + draw * kRedraw;
  suggest(sampler_, view, options_.space, attempt);
  attempt.number = trial.number;
  const SearchSpace& space = options_.space;
  objection = space.objection ? space.objection(assignment_of(attempt.parameters)) : "";
  return attempt;
}

bool Proposer::suggest_new(const StudyView& view, Trial& trial, std::int64_t number) {
  const bool check = options_.avoid_duplicates && finite_;
  const std::set<std::string> tried = check ? keys_of(view) : std::set<std::string>();
  const auto given = trial.system_attributes.find("fixed_params");
  const Json fixed = given == trial.system_attributes.end() ? Json::object() : given->second;
  std::string objection;
  for (int draw = 0; draw < kDraws; ++draw) {
    if (draw == kFreshDraws && finite_) {
      const UntriedPoints left =
          untried_points(options_.space, tried, fixed, stream_of(study_.name), number);
      trial.parameters = left.drawn;
      if (left.small) return left.count > 0;
    }
    Trial attempt = drawn(view, trial, number, draw, objection);
    const bool good = objection.empty() && !(check && tried.contains(key_of(attempt.parameters)));
    // If draws in a large space keep returning the same few points, one of them is tried again.
    if (!good && !(objection.empty() && draw + 1 == kDraws)) continue;
    trial = std::move(attempt);
    return true;
  }
  fail(
      "the search space rejected all of {} sampled points, the last one because: {}; "
      "change its parameters so that more combinations are valid",
      kDraws, objection);
}

Proposal Proposer::propose(const TrialTable& table) {
  const std::int64_t number = next_number(table);
  if (exceeds_budget(table, number)) return {.end = EndReason::trials};
  const KnownTrials known(study_, table, number, options_);
  const StudyView points = points_of(known.all());
  if (options_.patience > 0 && trials_without_gain(points) >= options_.patience)
    return {.end = EndReason::plateau};
  Trial trial;
  if (const auto repeated =
          options_.repeats > 0 ? trial_to_repeat(known.all(), options_.repeats, options_.repeat_top)
                               : std::nullopt) {
    trial = copy_of(*repeated->trial, /*reports=*/false);
    trial.user_attributes["repeat_of"] = repeated->trial->number;
    trial.user_attributes["repeat"] = repeated->begun + 1;
    trial.parameters = repeated->trial->parameters;
  } else if (const Trial* good =
                 options_.promote_by > 0 ? promotable(points, options_.promote_by) : nullptr) {
    trial = copy_of(*good, /*reports=*/true);
    trial.user_attributes["continues"] = good->number;
    trial.parameters = good->parameters;
  }
  trial.number = number;
  if (!trial.parameters.empty()) return {.trial = std::move(trial)};
  const StudyView view = sampler_view(known, number);
  if (sampler_.exhausted(view, options_.space) ||
      !suggest_new(view, trial, number_of_draw(table, trial)))
    return {.end = EndReason::exhausted};
  return {.trial = std::move(trial)};
}

void Proposer::complete(const TrialTable& table, Trial& claimed) {
  const KnownTrials known(study_, table, claimed.number, options_);
  const StudyView view = sampler_view(known, claimed.number);
  std::string objection;
  for (int draw = 0; draw < kDraws; ++draw) {
    Trial attempt = drawn(view, claimed, number_of_draw(table, claimed), draw, objection);
    if (!objection.empty()) continue;
    claimed = std::move(attempt);
    return;
  }
  fail("the search space rejects its values: {}", objection);
}

bool Proposer::is_fixed(const Trial& claimed) const {
  const auto given = claimed.system_attributes.find("fixed_params");
  if (given == claimed.system_attributes.end() || !given->second.is_object()) return false;
  Assignment earlier;
  for (const SpaceParameter& parameter : options_.space.parameters) {
    if (parameter.active && !parameter.active(earlier)) continue;
    if (!given->second.contains(parameter.name)) return false;
    earlier[parameter.name] = given->second[parameter.name];
  }
  return true;
}

}  // namespace hone
