#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "hone/metrics/comparison.h"
#include "hone/metrics/metric_name.h"
#include "hone/metrics/planning.h"

/// The change of a metric from a baseline to a candidate on the same examples, with its uncertainty.
/// hone/metrics/verdict.h judges it by one rule for all tasks.
///
///     MetricChange change = compare_regression(baseline, candidate, targets).r2;
///     verdict(change).summary  // "R² changed by +0.02 points (95% CI -0.10 to +0.14), within the allowed drop …"
namespace hone {

/// The basis for planning with a metric that is a ratio of sums.
struct DifferingTexts {
  double size =
      0;  ///< root mean square of the contributions of texts on which the models differ, times the number of texts
  double rate = 0;       ///< share of the texts on which they differ
  bool assumed = false;  ///< no text was seen to differ
};

/// The basis for predicting how many texts would decide.
using ChangePlan = std::variant<DisagreementRates, DifferingTexts>;

struct MetricChange {
  MetricName metric = kAccuracy;
  std::int64_t examples = 0;
  double evidence =
      1;  ///< of each example, below 1 if some repeat others (hone/metrics/evidence.h)
  double change =
      0;  ///< candidate minus baseline, a share: 0.01 is one point; NaN if it is not defined
  std::optional<Interval> interval = {};  ///< of the change, 95%; none if it is not defined
  /// Returns by how many standard errors the observed change exceeds `change`, under the hypothesis that this is the
  /// true one. It is treated as normally distributed, and is 1.96 at the lower end of the interval. Not called if the
  /// change is not defined.
  std::function<double(double change)> score = {};
  ChangePlan plan = {};
  bool differs = true;  ///< whether an exact test, if there is one, finds a change too
  /// Whether a prediction either changes or not. Otherwise predictions move by any amount, and the interval of a change
  /// may be as narrow as they move little: the number of examples alone does not determine its width.
  bool is_discrete = true;
  std::string notes =
      {};  ///< text after the change in a sentence: "; 12 of 4,000 predictions changed"
  /// For a ratio of sums: the number of texts, and of those on which the models differ.
  std::int64_t texts = 0, differing_texts = 0;
  double half_width = 0;                   ///< of its interval, before clipping
  std::optional<Comparison> counted = {};  ///< the input of `accuracy_change`
  std::string unit = {};  ///< the counted examples, if not all: "examples of legal"
  /// The metric of the baseline and of the candidate, if known; NaN if it is not defined.
  double baseline = std::numeric_limits<double>::quiet_NaN(),
         candidate = std::numeric_limits<double>::quiet_NaN();
};

/// Returns how many different texts show with power 80% that a candidate is within the limit at this margin, or exceeds
/// it, if its true change is `change` and the limit requires a score of `z`. None if no number would do, as in
/// `planned_examples`, and if the change `falls_short`.
std::optional<std::int64_t> planned_texts(const ChangePlan& plan, double change, double margin,
                                          double z = kNormal975);
/// The same for a change observed on these examples. Also none if more than ten times as many would be needed, and more
/// than ten times as many as for a model whose predictions are all the same: the change is too close to the margin for
/// more examples to help.
std::optional<std::int64_t> planned_texts(const MetricChange& change, double margin,
                                          double z = kNormal975);
/// Returns the assumption of the plan: "the true change equals the observed change".
std::string condition_text(const ChangePlan& plan);
/// Returns the plan over several seeds of one metric: the means.
ChangePlan mean_plan(std::span<const MetricChange> seeds);

/// Returns the change of accuracy, by Tango's score and interval; `differs` is McNemar's test.
MetricChange accuracy_change(const Comparison& comparison);

/// The contributions of examples to a ratio of sums, or to its change.
struct Contributions {
  /// (examples), linearised: an example's part in the error of R = Σ a / Σ b is (a - R b) / Σ b; in that of a change,
  /// this of the candidate minus that of the baseline. They sum to 0.
  std::span<const double> values;
  /// (examples): whether the predictions of the two models differ; for one model, whether its prediction is wrong
  std::span<const char> differ;
  double least = 0;  ///< contribution of one differing prediction; used if none or few were seen
  /// A prediction differs or does not, and contributes about `least`. Otherwise it contributes any amount, and `least`
  /// is used if none differs.
  bool is_discrete = false;
  /// If some predictions weigh more than others, as in a mean over classes of unequal size: the largest contribution of
  /// one. Those not seen to differ may be of that kind.
  double greatest = 0;
  /// A few examples may contribute most of Σ u², as positive ones do to an AUC if they are rare: the degrees of freedom
  /// are estimated from the values.
  bool is_unequal = false;
};

/// Returns the change of a ratio of sums over examples, such as R² or micro F1, with its 95% interval (delta method;
/// Cochran 1977, Sampling Techniques, chapter 6), by texts: the rows of a text are one observation (Cameron & Miller
/// 2015, Journal of Human Resources 50:317).
///
///     half width = t sqrt(G / (G - 1) (Σ u² + 1.96² max(Σ u², least²) / max(K, 1)))      of whole predictions
///     half width = t sqrt(G / (G - 1) (Σ u² + 1.96² Σ u² / K))                            of numbers, with least² at K = 0
///
/// where the factor after 1.96² is at least greatest²,
///
/// over the G texts. u is the sum of a text's values, t has G - 1 degrees of freedom, and K is the number of texts on
/// which the models differ. The second term keeps the level of the interval for small K: for equal gains and losses of
/// one prediction it gives the width of Tango's score interval as rates go to 0, which is positive at K = 0, and no
/// narrower at K = 1. It vanishes as K grows. For unequal contributions the degrees of freedom are at most 2 (Σ u²)² /
/// (Σ u⁴ - (Σ u²)² / G), those of the chi-squared distribution with the same mean and variance (Satterthwaite 1946,
/// Biometrics Bulletin 2:110); with few of them the normal distribution would claim too much. The interval of a metric
/// that is a share is clipped to [-1, 1]. Not defined for fewer than two texts. `texts`: as in `evidence`.
MetricChange paired_change(const MetricName& metric, double change,
                           const Contributions& contributions, std::span<const std::int32_t> texts);

/// The values of such a change that results store: its interval's half width, G and K.
struct RatioChange {
  double change = 0, half = 0;
  std::int64_t texts = 0, differing_texts = 0;
};
MetricChange ratio_change(const MetricName& metric, std::int64_t examples, double evidence,
                          const RatioChange& change);

/// Returns the 95% interval of one model's ratio of sums by the same formula, with K the number of texts that are not
/// all right. Clipped at 1, and at 0 if the metric is a share. From the smallest possible value to 1 if it is not
/// defined.
Interval ratio_interval(const MetricName& metric, double value, const Contributions& contributions,
                        std::span<const std::int32_t> texts);

}  // namespace hone
