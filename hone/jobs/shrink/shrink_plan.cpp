#include "hone/jobs/shrink/shrink_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/median.h"

namespace hone {
namespace {

constexpr double kSure = 0.95, kHopeless = 0.05;
constexpr double kLeastGain = 1.01;
constexpr std::string_view kLinears = "native.linears", kNarrow = "native.narrow",
                           kNarrowShare = "native.narrow_share", kSparsity = "pruning.sparsity";

/// Initial guesses, in nats: damage that is harmless, and damage that is too much, by the amount of training.
constexpr double kHarmless = 1e-4;
constexpr double kTooMuch[] = {0.05, 0.5, 1, 2, 4};
double guessed_damage_limit(std::size_t work) {
  return kTooMuch[std::min(work, std::size(kTooMuch) - 1)];
}

// Returns the amount of training of a point: the sum of its training levels.
std::size_t work_of(const ShrinkState& state, const ShrinkPoint& point) {
  std::size_t work = 0;
  for (std::size_t i = 0; i < point.size(); ++i)
    if (!state.parameters[i].compresses()) work += point[i];
  return work;
}

double damage_of(const ShrinkState& state, const ShrinkPoint& point) {
  double damage = state.begin.damage;
  for (std::size_t i = 0; i < point.size(); ++i)
    if (state.parameters[i].compresses()) damage += state.effects[i][point[i]].damage;
  return damage;
}

// Returns whether `a` compresses at least as much as `b` in every parameter.
bool as_strong(const ShrinkState& state, const ShrinkPoint& a, const ShrinkPoint& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (state.parameters[i].compresses() && a[i] < b[i]) return false;
  return true;
}

ShrinkPoint begin_of(const ShrinkState& state) { return ShrinkPoint(state.parameters.size(), 0); }

ShrinkPoint best_point(const ShrinkState& state) {
  const std::optional<std::size_t> best = state.best();
  return best ? state.tried[*best].point : begin_of(state);
}

// Returns the effect of a level at a point: none below the point at which it was measured. For example, blocks of zeros
// make int8 layers smaller and faster, but not files of fp32 weights.
const LevelEffect& effect_of(const ShrinkState& state, const ShrinkPoint& point, std::size_t i) {
  static const LevelEffect kNothing;
  if (!state.parameters[i].compresses()) return kNothing;
  for (std::size_t j = 0; !state.reference_points.empty() && j < point.size(); ++j)
    if (point[j] < state.reference_points[i][j]) return kNothing;
  return state.effects[i][point[i]];
}

// Predicts the size as a share of the baseline, for each kind of tensor by the product of the levels' effects.
double stored_share(const ShrinkState& state, const ShrinkPoint& point) {
  double sum = 0;
  for (const auto& [kind, share] : state.begin.bytes) {
    double bytes = share;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const BytesByKind& ratios = effect_of(state, point, i).bytes;
      if (const auto ratio = ratios.find(kind); ratio != ratios.end()) bytes *= ratio->second;
    }
    sum += bytes;
  }
  return sum;
}

// Predicts size and latency from the best point so far, by the effects of the levels that differ.
ShrinkShares predicted(const ShrinkState& state, const ShrinkPoint& point) {
  const std::optional<std::size_t> best = state.best();
  const ShrinkPoint from = best_point(state);
  const double bytes_before = stored_share(state, from);
  ShrinkShares shares =
      best ? state.tried[*best].shares
           : ShrinkShares{bytes_before, state.begin.batch_latency, state.begin.batch1_latency};
  shares.bytes *= stored_share(state, point) / bytes_before;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const LevelEffect &now = effect_of(state, point, i), &then = effect_of(state, from, i);
    shares.batch_latency *= now.batch_latency / then.batch_latency;
    shares.batch1_latency *= now.batch1_latency / then.batch1_latency;
  }
  return shares;
}

// "heads -50%", "trained 128 steps". `narrow` is the narrow format of linears; `quantizes` turns [train_on] into QAT.
std::string level_text(const ShrinkParameter& parameter, const Json& value,
                       const std::string& narrow, bool quantizes) {
  const std::string_view name = parameter.name;
  const std::string text = value.is_string() ? value.get<std::string>() : to_line(value);
  const auto percent = [&] { return fmt::format("{:.0f}%", 100 * value.get<double>()); };
  if (parameter.is_structure() && value.is_number())
    return fmt::format("{} -{}", name.substr(name.find('.') + 1), percent());
  if (name == "training.max_steps") return fmt::format("trained {} steps", text);
  if (name == "train_on.max_steps")
    return fmt::format("{} {} steps", quantizes ? "QAT" : "trained again", text);
  if (name == kSparsity && value.is_number())
    return fmt::format("{} of the weights removed{}", percent(),
                       parameter.blocks == "weights" ? "" : " in blocks of " + parameter.blocks);
  if (name == kLinears) return "linear layers " + text;
  if (name == kNarrowShare && value.is_number())
    return (value == 1 ? "linear layers " : percent() + " of them ") + narrow;
  if (name == "native.tables") return "tables " + text;
  return fmt::format("{} {}", name, text);
}

// Returns points that are stronger than the best so far in one parameter, or in all of them up to a level of damage,
// for each such level. Training is that of the best so far.
std::vector<ShrinkPoint> stronger_points(const ShrinkState& state) {
  const ShrinkPoint from = best_point(state);
  std::vector<ShrinkPoint> points;
  std::vector<double> damages;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t level = from[i] + 1; level < state.effects[i].size(); ++level) {
      points.push_back(from);
      points.back()[i] = level;
      damages.push_back(state.effects[i][level].damage);
    }
  }
  std::ranges::sort(damages);
  for (const double most : damages) {
    ShrinkPoint point = from;
    for (std::size_t i = 0; i < from.size(); ++i)
      for (std::size_t level = from[i] + 1; level < state.effects[i].size(); ++level)
        if (state.effects[i][level].damage <= most) point[i] = level;
    points.push_back(point);
  }
  return points;
}

// Returns whether a point removes more units than the best so far: only these losses are recovered before rounding.
bool is_narrower(const ShrinkState& state, const ShrinkPoint& point) {
  const ShrinkPoint from = best_point(state);
  for (std::size_t i = 0; i < point.size(); ++i)
    if (state.parameters[i].is_structure() && point[i] > from[i]) return true;
  return false;
}

// Returns the point with every useful amount of training, at least that of the best point so far.
std::vector<ShrinkPoint> with_work(const ShrinkState& state, const ShrinkPoint& point) {
  std::vector<ShrinkPoint> points = {point};
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (state.parameters[i].compresses()) continue;
    if (state.parameters[i].trains_floats() && !is_narrower(state, point)) continue;
    const std::size_t begun = points.size();
    for (std::size_t level = point[i] + 1; level < state.parameters[i].values.size(); ++level)
      for (std::size_t j = 0; j < begun; ++j) {
        points.push_back(points[j]);
        points.back()[i] = level;
      }
  }
  return points;
}

// Returns whether the low chance of a point is only a guess: no point with at least its training and at most its damage
// failed, and there are enough examples to show that it is kept.
bool is_guess(const ShrinkState& state, const ShrinkPoint& point) {
  const std::size_t work = work_of(state, point);
  const double damage = damage_of(state, point);
  return std::ranges::none_of(state.tried,
                              [&](const TriedPoint& other) {
                                return !other.within_limit && work_of(state, other.point) >= work &&
                                       damage_of(state, other.point) <= damage;
                              }) &&
         (!state.pass_chance || state.pass_chance(flips_of(state, point)) > kHopeless);
}

bool is_ruled_out(const ShrinkState& state, const ShrinkPoint& point) {
  return std::ranges::any_of(state.tried, [&](const TriedPoint& other) {
    return !other.within_limit && as_strong(state, point, other.point) &&
           work_of(state, point) <= work_of(state, other.point);
  });
}

}  // namespace

std::vector<ShrinkParameter> shrink_parameters(const SearchSpace& space, const Json& index_values,
                                               const std::string& narrow,
                                               const std::string& blocks) {
  std::vector<ShrinkParameter> parameters;
  for (const SpaceParameter& one : space.parameters) {
    const Distribution& d = one.distribution;
    const std::optional<std::uint64_t> size = d.size();
    user_check(size.has_value() && *size <= 64,
               "{}: expected a list of values, from gentle to strong", one.name);
    ShrinkParameter parameter{.name = one.name};
    for (std::uint64_t i = 0; i < *size; ++i) parameter.values.push_back(d.external(d.value_at(i)));
    parameter.decoded = index_values.contains(one.name)
                            ? index_values[one.name].get<std::vector<Json>>()
                            : parameter.values;
    if (one.name == kNarrowShare) parameter.narrow = narrow;
    if (one.name == kSparsity) parameter.blocks = blocks;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Assignment assignment_of(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point) {
  Assignment values;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    values[parameters[i].name] = parameters[i].values[point[i]];
  return values;
}

std::optional<ShrinkPoint> point_of(const std::vector<ShrinkParameter>& parameters,
                                    const Assignment& values) {
  ShrinkPoint point;
  for (const ShrinkParameter& parameter : parameters) {
    const auto value = values.find(parameter.name);
    if (value == values.end()) return std::nullopt;
    const auto level = std::ranges::find(parameter.values, value->second);
    if (level == parameter.values.end()) return std::nullopt;
    point.push_back(static_cast<std::size_t>(level - parameter.values.begin()));
  }
  return point;
}

std::string recipe_text(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point) {
  const auto find_parameter = [&](std::string_view name) {
    return std::ranges::find(parameters, name, &ShrinkParameter::name);
  };
  const auto decoded_value = [&](std::vector<ShrinkParameter>::const_iterator parameter) {
    return parameter->decoded[point[static_cast<std::size_t>(parameter - parameters.begin())]];
  };
  // Null at the first level, which has no effect.
  const auto level_of = [&](std::string_view name) {
    const auto found = find_parameter(name);
    const bool none = found == parameters.end() ||
                      point[static_cast<std::size_t>(found - parameters.begin())] == 0;
    return none ? Json() : decoded_value(found);
  };
  const auto narrow = find_parameter(kNarrow);
  bool quantizes = find_parameter(kSparsity) == parameters.end();
  for (std::size_t i = 0; i < point.size(); ++i)
    quantizes = quantizes || (parameters[i].is_native() && point[i] > 0);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const std::string& name = parameters[i].name;
    // The narrow format is named with its share of the layers, and replaces the other one entirely at share 1.
    const bool does_nothing = name == kNarrow ||
                              (name == kNarrowShare && level_of(kLinears).is_null()) ||
                              (name == kLinears && level_of(kNarrowShare) == 1);
    if (point[i] == 0 || does_nothing) continue;
    parts.push_back(level_text(parameters[i], parameters[i].decoded[point[i]],
                               narrow == parameters.end()
                                   ? parameters[i].narrow
                                   : decoded_value(narrow).get<std::string>(),
                               quantizes));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::span<const EnumName> enum_names(ShrinkGoal) {
  static constexpr EnumName kWords[] = {{static_cast<int>(ShrinkGoal::both), "both"},
                                        {static_cast<int>(ShrinkGoal::size), "size"},
                                        {static_cast<int>(ShrinkGoal::latency), "latency"}};
  return kWords;
}

ShrinkGoal parse_shrink_goal(const std::string& word) {
  return static_cast<ShrinkGoal>(detail::read_choice(word, enum_names(ShrinkGoal())));
}

const Fields& fields_of(const ShrinkShares*) {
  using S = ShrinkShares;
  static const Fields fields = describe<S>(
      "shrink_shares", "Size and latency of a model relative to its baseline.",
      field<&S::bytes>("size_share", Unit::ratio,
                       "Size of the weights in the file of the model, which leaves out "
                       "zeros of packed weights."),
      field<&S::batch_latency>("latency_share", Unit::ratio, "Latency of a batch."),
      field<&S::batch1_latency>("batch_1_latency_share", Unit::ratio, "Latency at batch size 1."));
  return fields;
}

const Fields& fields_of(const LevelEffect*) {
  using L = LevelEffect;
  static const Fields fields =
      describe<L>("level_effect", "The effect of one value of a parameter.",
                  field<&L::bytes>("bytes", "Bytes by kind of tensor, relative."),
                  field<&L::batch_latency>("latency", Unit::ratio, "Latency of a batch, relative."),
                  field<&L::batch1_latency>("batch_1_latency", Unit::ratio,
                                            "Latency at batch size 1, relative."),
                  field<&L::damage>("damage", Unit::nats, "Divergence of the predictions."));
  return fields;
}

double goal_share(ShrinkGoal goal, const ShrinkShares& shares) {
  const double batch_latency = std::sqrt(shares.batch_latency * shares.batch1_latency);
  if (goal == ShrinkGoal::size) return shares.bytes;
  return goal == ShrinkGoal::latency ? batch_latency : std::sqrt(shares.bytes * batch_latency);
}

bool counts_batch1(const std::vector<TriedPoint>& tried) {
  return std::ranges::none_of(tried, &TriedPoint::is_batch1_noisy);
}

std::optional<std::size_t> best_within_limit(ShrinkGoal goal, const std::vector<TriedPoint>& tried,
                                             const ShrinkShares& than) {
  const auto share_of = [&, alone = counts_batch1(tried)](ShrinkShares shares) {
    if (!alone) shares.batch1_latency = shares.batch_latency;
    return goal_share(goal, shares);
  };
  std::optional<std::size_t> best;
  double least = share_of(than);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const double share = share_of(tried[i].shares);
    if (!tried[i].within_limit || share >= least) continue;
    best = i;
    least = share;
  }
  return best;
}

double flips_of(const ShrinkState& state, const ShrinkPoint& point) {
  constexpr double kFlipsOfRootDamage = 0.3, kFlipsOfTrained = 0.02;
  if (work_of(state, point) == 0) return kFlipsOfRootDamage * std::sqrt(damage_of(state, point));
  std::vector<double> seen;
  for (const TriedPoint& other : state.tried)
    if (work_of(state, other.point) > 0 && std::isfinite(other.flips)) seen.push_back(other.flips);
  if (seen.empty()) return kFlipsOfTrained;
  std::ranges::sort(seen);
  return median_of_sorted(seen);
}

double chance_of(const ShrinkState& state, const ShrinkPoint& point) {
  const std::size_t work = work_of(state, point);
  double harmless = kHarmless, too_much = guessed_damage_limit(work);
  bool lost = false;
  for (const TriedPoint& other : state.tried) {
    const double damage = damage_of(state, other.point);
    const std::size_t others = work_of(state, other.point);
    if (other.within_limit && others <= work) harmless = std::max(harmless, damage);
    if (!other.within_limit && others >= work) {
      too_much = lost ? std::min(too_much, damage) : damage;
      lost = true;
    }
  }
  // The guess was too low if more damage was kept.
  if (!lost) too_much = std::max(too_much, 4 * harmless);
  const double damage = damage_of(state, point);
  if (damage <= harmless) return kSure;
  if (damage >= too_much || too_much <= harmless) return kHopeless;
  const double way = std::log(damage / harmless) / std::log(too_much / harmless);
  const double chance = kSure + (kHopeless - kSure) * way;
  if (!state.pass_chance) return chance;
  return std::min(chance, std::max(kHopeless, state.pass_chance(flips_of(state, point))));
}

std::optional<ShrinkStep> next_step(const ShrinkState& state) {
  const double best_share = goal_share(state.goal, predicted(state, best_point(state)));
  std::optional<ShrinkStep> best;
  double most = 0;
  bool best_is_likely = false;
  std::set<std::string> seen = {state.key(begin_of(state))};
  for (const TriedPoint& one : state.tried) seen.insert(state.key(one.point));
  for (const ShrinkPoint& strength : stronger_points(state))
    for (const ShrinkPoint& point : with_work(state, strength)) {
      if (!seen.insert(state.key(point)).second || is_ruled_out(state, point)) continue;
      ShrinkStep step{.point = point,
                      .shares = predicted(state, point),
                      .damage = damage_of(state, point),
                      .chance = chance_of(state, point),
                      .seconds = state.seconds(point)};
      step.gain = best_share / goal_share(state.goal, step.shares);
      const bool likely = step.chance > kHopeless || state.tried.empty();
      if (step.gain < kLeastGain || (!likely && !is_guess(state, point))) continue;
      if (step.seconds > state.seconds_left) continue;
      double worth = step.chance * std::log(step.gain) / (step.seconds + state.evaluation_seconds);
      // More training improves an unknown chance.
      if (!likely) worth *= std::pow(guessed_damage_limit(work_of(state, point)) / step.damage, 2);
      // Guesses come last.
      if (best && (best_is_likely != likely ? best_is_likely : worth <= most)) continue;
      most = worth;
      best_is_likely = likely;
      best = std::move(step);
    }
  return best;
}

}  // namespace hone
