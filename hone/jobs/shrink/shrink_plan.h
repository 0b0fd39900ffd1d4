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

/// What shrinking tries next: the point of a space that promises most for what it takes. It knows numbers alone.
namespace hone {

/// A parameter of the space with its values, from gentle to strong.
struct ShrinkParameter {
  std::string name;               ///< "structure.heads"
  std::vector<Json> values = {};  ///< as studies hold them
  std::vector<Json> meant = {};   ///< what they stand for
  std::string narrow = {};        ///< of "native.narrow_share": the format that takes this share
  std::string blocks = {};        ///< of "pruning.sparsity": what goes as one, "1x4"; "weights"

  /// It takes something away ("structure", "pruning", "native"), or is work that wins back what that cost ("training", "train_on").
  bool takes_away() const { return is_structure() || is_pruning() || is_native(); }
  bool is_pruning() const { return name.starts_with("pruning."); }
  bool is_native() const { return name.starts_with("native."); }
  bool is_structure() const { return name.starts_with("structure."); }
  /// Work before anything is rounded ("training"); "train_on" is behind it.
  bool trains_floats() const { return name.starts_with("training."); }
};

/// The level of every parameter.
using ShrinkPoint = std::vector<std::size_t>;

/// The parameters of a space as levels; `index_values` are its lists of which studies hold the places (`TrialSpace`), `narrow` is its
/// narrow format and `blocks` its structure of pruned weights, where they do not vary. Throws `UserError` for a parameter without a list
/// of values.
std::vector<ShrinkParameter> shrink_parameters(const SearchSpace& space, const Json& index_values,
                                               const std::string& narrow = {},
                                               const std::string& blocks = "weights");
Assignment assignment_of(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point);
/// Nothing where the values are none of the parameters'.
std::optional<ShrinkPoint> point_of(const std::vector<ShrinkParameter>& parameters,
                                    const Assignment& values);

/// All that a point does to the baseline: "heads -50%, trained 128 steps, linear layers int(bits=8,per=row), 75% of them
/// int(bits=4,per=row)".
std::string recipe_text(const std::vector<ShrinkParameter>& parameters, const ShrinkPoint& point);

/// What is to become smaller.
enum class ShrinkGoal : std::uint8_t {
  both,    ///< the geometric mean of the two
  size,    ///< bytes of the weights in the file of the model
  latency  ///< milliseconds for a text, the geometric mean of some at a time and one alone
};
std::span<const EnumWord> enum_words(ShrinkGoal);
/// Throws `UserError`.
ShrinkGoal parse_shrink_goal(const std::string& word);

/// What a model takes, as shares of what the one it was made of takes.
struct ShrinkShares {
  double bytes = 1;
  double time = 1;        ///< of a text, some at a time
  double time_alone = 1;  ///< of a text alone
};
const Fields& fields_of(const ShrinkShares*);
double goal_share(ShrinkGoal goal, const ShrinkShares& shares);

/// Bytes by kind of tensor: "bert.encoder.layer.*.output.dense.weight".
using BytesByKind = std::map<std::string, double>;

/// What one level of one parameter does alone, or beside the one without which it does nothing, without training.
struct LevelEffect {
  BytesByKind bytes =
      {};  ///< ratios, 0 for a kind that is gone: levels change other kinds, so only these multiply
  double time = 1, time_alone = 1;  ///< ratios, as in `ShrinkShares`
  double damage = 0;                ///< divergence of the answers, in nats of a text
};
const Fields& fields_of(const LevelEffect*);
/// (parameters, levels); of those that take nothing away empty. The first level does nothing.
using LevelEffects = std::vector<std::vector<LevelEffect>>;

/// A point that was judged.
struct TriedPoint {
  ShrinkPoint point;
  ShrinkShares shares = {};
  bool kept = false;
  double flips =
      kNotKnown;  ///< share of texts that are answered otherwise; NaN where texts have no answers that flip
  bool is_noisy_alone = false;  ///< rounds of `shares.time_alone` vary too much

  static constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
};

/// Whether the time of a text alone decides between points: it is noisy in none of them. Otherwise the time of some decides without it.
bool counts_alone(const std::vector<TriedPoint>& tried);

/// The kept one of the least goal share. None: nothing that is kept takes less than `than`, by default the model as it was given.
std::optional<std::size_t> best_kept(ShrinkGoal goal, const std::vector<TriedPoint>& tried,
                                     const ShrinkShares& than = {});

/// All that a choice depends on.
struct ShrinkState {
  const std::vector<ShrinkParameter>& parameters;
  const LevelEffects& effects;
  LevelEffect begin = {};  ///< what all first levels together come to, as shares of the baseline
  /// For each parameter, the point beside which its levels were measured: where less than that is done, they take nothing away. Empty: all
  /// were measured alone.
  std::vector<ShrinkPoint> beside = {};
  ShrinkGoal goal = ShrinkGoal::both;
  std::vector<TriedPoint> tried = {};
  /// What a point comes to, whatever levels say that do nothing beside the others.
  std::function<std::string(const ShrinkPoint&)> meaning = {};
  /// How likely it is shown to be kept by the texts to choose by, where it is as good and answers such a share of texts otherwise. Null:
  /// texts have no answers that flip.
  std::function<double(double flips)> shown_kept = {};
  /// Seconds that a point is going to take.
  std::function<double(const ShrinkPoint&)> seconds = {};
  double seconds_left = 0;
  double look_seconds = 0;  ///< what a look is worth: few are left

  std::optional<std::size_t> best() const { return best_kept(goal, tried); }
};

/// A point, and why it is the next one.
struct ShrinkStep {
  ShrinkPoint point;
  ShrinkShares shares = {};  ///< predicted
  double damage = 0;         ///< predicted, before training: the sum over levels
  double chance = 0;         ///< that it is kept
  double seconds = 0;        ///< that it takes
  double gain = 1;  ///< goal share of the best so far, or where points begin, by that of this one
};

/// The share of texts that a point is going to answer otherwise. Without work behind 0.3 times the root of the damage, as divergences go
/// with the square of what moves; with work the median of what such points did so far, at first 2%: a model that learned to answer as
/// another does differs from it by that, however much was taken away.
double flips_of(const ShrinkState& state, const ShrinkPoint& point);

/// How likely a point is shown to be kept: read off what was tried. Up to the largest damage that was kept with no more work it is 0.95, from the
/// least that was not kept with as much work or more 0.05, between these two by the logarithm of the damage, but no more than
/// `shown_kept` of its flips. Where nothing was lost yet, how much is too much is a guess.
double chance_of(const ShrinkState& state, const ShrinkPoint& point);

/// Of the points that take away more than the best so far in one parameter, or in all as far as no level does more damage alone than
/// so much, with any work behind (training by floats only where units go), the one with the most of `chance` log(`gain`) for its seconds.
/// Those that only a guess speaks against come behind all others, most work first; those that are as strong as one that was not kept with as much work are
/// left out. None: no point is likely to gain 1% in the seconds that are left.
std::optional<ShrinkStep> next_step(const ShrinkState& state);

}  // namespace hone
