#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "hone/metrics/comparison.h"

/// How a figure of a candidate differs from that of its parent on the same examples, and how sure that is: what the one
/// rule of hone/metrics/verdict.h judges, whatever the task.
///
///     FigureChange change = compare_regression(parent, candidate, targets).r2;
///     verdict(change).summary  // "kept: +0.02 points of R² (95 %: -0.10 to +0.14), within the margin of 0.50; …"
namespace hone {

struct FigureChange {
  std::string figure =
      "accuracy";  ///< greater is better, and 1 the most there is: "R²", "micro F1"
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, as some repeat others (hone/metrics/evidence.h)
  double change =
      0;  ///< candidate minus parent, a share: 0.01 is one point; NaN where it is not defined
  std::optional<Interval> interval = {};  ///< of the change, 95 %; nothing where it is not defined
  /// How many standard errors, under the hypothesis that the true change is this, the one that was seen lies above it. It is
  /// read as a normal number, and is 1.96 at the lower end of the interval. Not called where the change is not defined.
  std::function<double(double change)> score = {};
  /// How many different texts show four times out of five that the candidate is kept, or lost, at this margin, if the true
  /// change is the one seen and kept asks for a score of `z`. Nothing where no number would do, as in `planned_examples`.
  std::function<std::optional<std::int64_t>(double margin, double z)> needed = {};
  std::string condition = {};  ///< what is assumed of that: "the true change is the one seen"
  bool differs = true;         ///< that an exact test, where there is one, sees a change as well
  std::string notes = {};      ///< what follows the change in a sentence: "; 0.30 % flips"
};

/// That of accuracy, by Tango's score and interval; `differs` is McNemar's test.
FigureChange accuracy_change(const Comparison& comparison);

/// What every example adds to the change of a ratio of sums.
struct PairedContributions {
  /// (examples), linearised: the change is that of the ratio R = Σ a / Σ b, and an example's part in its error is
  /// (a - R b) / Σ b of the candidate minus that of the parent. They add up to 0.
  std::span<const double> values;
  std::span<const char> differ;  ///< (examples): whether the two models say something different
  double least = 0;  ///< what one answer that differs would add; counts where none was seen
};

/// The change of a ratio of sums over examples, such as R² or micro F1, with its 95 % interval (delta method; Cochran 1977,
/// Sampling Techniques, chapter 6), by texts: the rows of a text are one observation (Cameron & Miller 2015, Journal of
/// Human Resources 50:317).
///
///     half width = t sqrt(G / (G - 1) (Σ u² + 1.96² Σ u² / K))
///
/// over the G texts with u the sum of a text's values, t of G - 1 degrees of freedom, and K the texts on which the models
/// differ. The second term is what makes the interval hold its level where K is small: for equal gains and losses of one
/// answer it gives the width of Tango's score interval as rates go to 0, which is positive at K = 0, where a mean square of
/// `least`² is assumed. It vanishes as K grows. Not defined for less than two texts. `texts`: as in `evidence`.
FigureChange paired_change(std::string figure, double change,
                           const PairedContributions& contributions,
                           std::span<const std::int32_t> texts);

}  // namespace hone
