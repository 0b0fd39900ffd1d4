#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/json.h"
#include "hone/search/space.h"

/// Chooses the next candidate of a shrink run: the point of a space with the highest expected gain per second.
namespace hone {

/// A parameter of the space with its values, from gentle to strong.
struct ShrinkParameter {
  std::string name;                ///< "structure.heads"
  std::vector<Json> values = {};   ///< as studies store them
  std::vector<Json> decoded = {};  ///< what they stand for
  std::string narrow = {};         ///< for "native.narrow_share": the narrow format
  std::string blocks = {};         ///< for "pruning.sparsity": the structure, "1x4" or "weights"

  /// Returns whether it compresses ("structure", "pruning", "native"); otherwise it is training that recovers the
  /// metric ("training", "train_on").
  bool compresses() const { return is_structure() || is_pruning() || is_native(); }
  bool is_pruning() const { return name.starts_with("pruning."); }
  bool is_native() const { return name.starts_with("native."); }
  bool is_structure() const { return name.starts_with("structure."); }
  /// Returns whether it is training before any rounding ("training"); "train_on" comes after it.
  bool trains_floats() const { return name.starts_with("training."); }
};

/// The level of every parameter.
using ShrinkPoint = std::vector<std::size_t>;

/// Returns the parameters of a space as levels. `index_values` are the lists into which studies store indices
/// (`TrialSpace::index_values`); `narrow` is the narrow format and `blocks` the structure of pruned weights, if these
/// do not vary. Throws `UserError` for a parameter without a list of values.
std::vector<ShrinkParameter> shrink_parameters(const SearchSpace& space, const Json& index_values,
                                               const std::string& narrow = {},
                                               const std::string& blocks = "weights");
Assignment assignment_of(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point);
/// Returns none if a value is not one of its parameter's.
std::optional<ShrinkPoint> point_of(const std::vector<ShrinkParameter>& parameters,
                                    const Assignment& values);

/// Describes a point: "heads -50%, trained 128 steps, linear layers int(bits=8,per=row), 75% of them
/// int(bits=4,per=row)".
std::string recipe_text(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point);

/// What to minimize.
enum class ShrinkGoal : std::uint8_t {
  both,    ///< the geometric mean of the two
  size,    ///< bytes of the weights in the file of the model
  latency  ///< milliseconds per text, the geometric mean of a batch and batch size 1
};
std::span<const EnumName> enum_names(ShrinkGoal);
/// Throws `UserError`.
ShrinkGoal parse_shrink_goal(const std::string& word);

/// Size and latency of a model as shares of its baseline's.
struct ShrinkShares {
  double bytes = 1;
  double batch_latency = 1;   ///< latency per text of a batch
  double batch1_latency = 1;  ///< latency at batch size 1
};
const Fields& fields_of(const ShrinkShares*);
double goal_share(ShrinkGoal goal, const ShrinkShares& shares);

/// Bytes by kind of tensor: "bert.encoder.layer.*.output.dense.weight".
using BytesByKind = std::map<std::string, double>;

/// The effect of one level of one parameter without training, measured alone or at a level that it depends on.
struct LevelEffect {
  BytesByKind bytes = {};                        ///< ratio of the bytes of each kind, 0 if removed
  double batch_latency = 1, batch1_latency = 1;  ///< ratios, as in `ShrinkShares`
  double damage = 0;  ///< divergence of the predictions, in nats per text
};
const Fields& fields_of(const LevelEffect*);
/// (parameters, levels); empty for parameters of training. The first level has no effect.
using LevelEffects = std::vector<std::vector<LevelEffect>>;

/// A point that was judged.
struct TriedPoint {
  ShrinkPoint point;
  ShrinkShares shares = {};
  bool within_limit = false;
  double flips = kNotKnown;      ///< share of changed predictions; NaN for tasks without classes
  bool is_batch1_noisy = false;  ///< the rounds of `shares.batch1_latency` vary too much

  static constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
};

/// Returns whether latency at batch size 1 counts, because it is noisy in none of the points.
bool counts_batch1(const std::vector<TriedPoint>& tried);

/// Returns the point within the limit with the least goal share; none if none is below `than`, by default the baseline.
std::optional<std::size_t> best_within_limit(ShrinkGoal goal, const std::vector<TriedPoint>& tried,
                                             const ShrinkShares& than = {});

/// Everything that the choice of the next step depends on.
struct ShrinkState {
  const std::vector<ShrinkParameter>& parameters;
  const LevelEffects& effects;
  LevelEffect begin = {};  ///< all first levels together, as shares of the baseline
  /// For each parameter, the point at which its levels were measured; below it they count as having no effect. Empty:
  /// all were measured alone.
  std::vector<ShrinkPoint> reference_points = {};
  ShrinkGoal goal = ShrinkGoal::both;
  std::vector<TriedPoint> tried = {};
  /// Returns a key of a point, the same for points that differ only in levels without an effect.
  std::function<std::string(const ShrinkPoint&)> key = {};
  /// Returns the chance that a model that is as accurate as the baseline is shown to be within the limit, given the
  /// share of predictions that it changes. Null for tasks without classes.
  std::function<double(double flips)> pass_chance = {};
  /// Estimates the seconds that a point takes.
  std::function<double(const ShrinkPoint&)> seconds = {};
  double seconds_left = 0;
  double evaluation_seconds =
      0;  ///< cost of an evaluation in seconds, since their number is limited

  std::optional<std::size_t> best() const { return best_within_limit(goal, tried); }
};

/// The next point, with its predictions.
struct ShrinkStep {
  ShrinkPoint point;
  ShrinkShares shares = {};  ///< predicted
  double damage = 0;         ///< predicted, before training: the sum over levels
  double chance = 0;         ///< of being within the limit
  double seconds = 0;        ///< predicted
  double gain =
      1;  ///< goal share of the best point so far, or of the starting point, divided by its own
};

/// Predicts the share of changed predictions. Without training it is 0.3 times the root of the damage, because
/// divergence grows with the square of the change. With training it is the median over trained points so far, or 2%
/// without any: distilled students differ from their teacher by about that share, however much was removed.
double flips_of(const ShrinkState& state, const ShrinkPoint& point);

/// Estimates the chance that a point is shown to be kept, from the points that were tried. It is 0.95 up to the
/// largest damage that was kept with no more training, and 0.05 from the least damage that was not kept with as much
/// training or more. In between it is interpolated by the logarithm of the damage, and capped by `pass_chance`. As long
/// as no such point failed, the upper bound on the damage is a guess.
double chance_of(const ShrinkState& state, const ShrinkPoint& point);

/// Chooses the next point by the greatest `chance` · log(`gain`) per second. Candidates are stronger than the best
/// point so far in one parameter, or in all parameters as far as no level alone exceeds some damage, each with any
/// amount of training (`training` only if units are removed). Candidates whose low chance is only a guess come last,
/// those with most training first. Leaves out points that are as strong as one that was not kept with as much
/// training. Returns none if no point is likely to gain 1% in the remaining seconds.
std::optional<ShrinkStep> next_step(const ShrinkState& state);

}  // namespace hone
