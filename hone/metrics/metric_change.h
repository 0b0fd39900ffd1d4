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

/// How a figure of a candidate differs from that of its parent on the same examples, and how sure that is: what the one
/// rule of hone/metrics/verdict.h judges, whatever the task.
///
///     MetricChange change = compare_regression(parent, candidate, targets).r2;
///     verdict(change).summary  // "kept: +0.02 points of R² (95% CI -0.10 to +0.14), within the margin of 0.50; …"
namespace hone {

/// What is planned with where a figure is a ratio of sums.
struct DifferingTexts {
  double size =
      0;  ///< root of the mean square of what a text adds on which the models differ, times the texts
  double rate = 0;       ///< share of the texts on which they differ
  bool assumed = false;  ///< none was seen to differ
};

/// From what it is predicted how many texts would tell.
using ChangePlan = std::variant<DisagreementRates, DifferingTexts>;

struct MetricChange {
  MetricName figure = kAccuracy;
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, as some repeat others (hone/metrics/evidence.h)
  double change =
      0;  ///< candidate minus parent, a share: 0.01 is one point; NaN where it is not defined
  std::optional<Interval> interval = {};  ///< of the change, 95%; nothing where it is not defined
  /// How many standard errors, under the hypothesis that the true change is this, the one that was seen lies above it. It is
  /// read as a normal number, and is 1.96 at the lower end of the interval. Not called where the change is not defined.
  std::function<double(double change)> score = {};
  ChangePlan plan = {};
  bool differs = true;  ///< that an exact test, where there is one, sees a change as well
  /// An example's answer is the same or another. Otherwise answers move by any amount, and the interval of a change may be as narrow
  /// as they move little, so the number of examples alone says nothing of its width.
  bool of_whole_answers = true;
  std::string notes =
      {};  ///< what follows the change in a sentence: "; 12 of 4,000 predictions differ"
  /// Of a ratio of sums: how many texts there are, and on how many of them the models differ.
  std::int64_t texts = 0, differing_texts = 0;
  double half_width = 0;                   ///< of its interval, before that was cut
  std::optional<Comparison> counted = {};  ///< what `accuracy_change` was made of
  std::string unit = {};  ///< which examples are counted where not all are: "examples of legal"
  /// The metric of the parent and of the candidate, where they are known; NaN where it is not defined.
  double parent = std::numeric_limits<double>::quiet_NaN(),
         candidate = std::numeric_limits<double>::quiet_NaN();
};

/// How many different texts show four times out of five that a candidate is kept, or lost, at this margin, if its true
/// change is this and kept asks for a score of `z`. Nothing where no number would do, as in `planned_examples`, and where the
/// change `falls_short`.
std::optional<std::int64_t> planned_texts(const ChangePlan& plan, double change, double margin,
                                          double z = kNormal975);
/// The same of a change that was seen on these examples. Nothing also where more than ten times as many would be needed, and ten times
/// as many as for a model whose answers are all the same: it lies so near to the margin that more examples are no remedy.
std::optional<std::int64_t> planned_texts(const MetricChange& change, double margin,
                                          double z = kNormal975);
/// What is assumed of that: "the true change is the one seen".
std::string condition_text(const ChangePlan& plan);
/// What is planned with over several seeds of one figure: the means.
ChangePlan mean_plan(std::span<const MetricChange> seeds);

/// That of accuracy, by Tango's score and interval; `differs` is McNemar's test.
MetricChange accuracy_change(const Comparison& comparison);

/// What every example adds to a ratio of sums, or to its change.
struct Contributions {
  /// (examples), linearised: an example's part in the error of R = Σ a / Σ b is (a - R b) / Σ b, in that of a change this of the
  /// candidate minus that of the parent. They add up to 0.
  std::span<const double> values;
  /// (examples): whether the two models say something different; of one model, whether its answer is not the right one
  std::span<const char> differ;
  double least = 0;  ///< what one answer that differs would add; counts where none or few were seen
  /// An answer differs or does not, and adds about `least`; else by any amount, and `least` counts where none differs.
  bool is_of_whole_answers = false;
  /// Where one answer weighs more than another, as in a mean over classes of unequal size: what one adds at most. Those that
  /// have not been seen to differ may be of that kind.
  double greatest = 0;
  /// A few examples may add most of Σ u², as the positive ones do to an area where they are rare: the degrees of freedom are
  /// estimated from the values.
  bool is_unequal = false;
};

/// The change of a ratio of sums over examples, such as R² or micro F1, with its 95% interval (delta method; Cochran 1977,
/// Sampling Techniques, chapter 6), by texts: the rows of a text are one observation (Cameron & Miller 2015, Journal of
/// Human Resources 50:317).
///
///     half width = t sqrt(G / (G - 1) (Σ u² + 1.96² max(Σ u², least²) / max(K, 1)))      of whole answers
///     half width = t sqrt(G / (G - 1) (Σ u² + 1.96² Σ u² / K))                            of numbers, with least² at K = 0
///
/// where what 1.96² stands before is greatest² at least,
///
/// over the G texts with u the sum of a text's values, t of G - 1 degrees of freedom, and K the texts on which the models
/// differ. The second term is what makes the interval hold its level where K is small: for equal gains and losses of one
/// answer it gives the width of Tango's score interval as rates go to 0, which is positive at K = 0, and no narrower at K = 1. It
/// vanishes as K grows. Of unequal contributions G - 1 is no more than 2 (Σ u²)² / (Σ u⁴ - (Σ u²)² / G), the degrees of
/// freedom of the chi-squared distribution with the same mean and variance (Satterthwaite 1946, Biometrics Bulletin 2:110);
/// with few of them the normal distribution would claim too much. Of a figure that is a share the interval is cut at -1 and 1. Not defined for
/// less than two texts. `texts`: as in `evidence`.
MetricChange paired_change(const MetricName& figure, double change,
                           const Contributions& contributions, std::span<const std::int32_t> texts);

/// The same change from what results keep of it: its interval's half width, G and K.
struct RatioChange {
  double change = 0, half = 0;
  std::int64_t texts = 0, differing_texts = 0;
};
MetricChange ratio_change(const MetricName& figure, std::int64_t examples, double evidence,
                          const RatioChange& change);

/// The 95% interval of one model's ratio of sums, by the same formula, K being the texts that are not all right; cut at 1, and
/// where the figure is a share at 0. Up to the least and 1 where it is not defined.
Interval ratio_interval(const MetricName& figure, double value, const Contributions& contributions,
                        std::span<const std::int32_t> texts);

}  // namespace hone
