#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hone/metrics/classification.h"

/// A candidate (quantized, pruned, …) against its parent on the same examples.
///
///     Comparison c = compare(parent_logits, candidate_logits, labels);
///     c.flip_share, c.margin_snr_db, c.mcnemar.p_value, verdict(c)
namespace hone {

/// McNemar's test of whether two classifiers are right equally often, from the examples on which
/// only one is right.
struct McNemar {
  double p_value = 1;  ///< two-sided
  bool exact =
      true;  ///< binomial; otherwise chi-square with one degree of freedom and Edwards' correction
};

/// From this many examples on which only one of the two is right, McNemar's test uses chi-square.
inline constexpr std::int64_t kExactMcNemarBelow = 25;

McNemar mcnemar(std::int64_t only_parent, std::int64_t only_candidate);

struct Comparison {
  std::int64_t examples = 0;
  std::int64_t flips = 0;  ///< predictions that differ, right or wrong
  double flip_share = 0;   ///< flips / examples; NaN without examples
  Interval flip_interval;  ///< Wilson, 95 %
  std::int64_t both_right = 0;
  std::int64_t both_wrong = 0;
  std::int64_t only_parent = 0;     ///< right in the parent, wrong in the candidate
  std::int64_t only_candidate = 0;  ///< wrong in the parent, right in the candidate
  McNemar mcnemar;
  double margin_snr_db = 0;  ///< see `margin_snr_db`

  /// Accuracy of the candidate minus that of the parent.
  double accuracy_change() const {
    return static_cast<double>(only_candidate - only_parent) / static_cast<double>(examples);
  }
};

/// Both logits and the labels describe the same examples in the same order.
/// Throws `UserError` for a label that is not a class of the logits.
Comparison compare(const Logits& parent, const Logits& candidate,
                   std::span<const std::int32_t> labels);

/// How well the candidate keeps the parent's margins, in decibels:
///
///     10 log10( Σ parent_margin² / Σ (candidate_margin - parent_margin)² )
///
/// The margin of an example is the logit of the parent's first class minus that of its second, the
/// same two classes in both models. With two classes that is logit 1 - logit 0 up to a sign, which
/// the squares forget. A shift common to all logits of a row changes nothing. Infinite when no
/// margin differs, NaN when a logit is NaN.
double margin_snr_db(const Logits& parent, const Logits& candidate);

/// The 95 % interval of the candidate's accuracy minus the parent's, from paired examples: the score interval of Tango
/// (1998, Statistics in Medicine 17, section 3). It holds its level for few examples too, and has a positive width
/// where nothing differs: no example can exclude what is rarer than one in all of them. [-1, 1] without examples.
Interval accuracy_change_interval(const Comparison& comparison);

/// How many examples in all a test at the 5 % level needs to find the observed difference in
/// accuracy four times out of five, if the rates of disagreement stay as they are (Connor 1987):
///
///     n = (1.96 sqrt(d) + 0.84 sqrt(d - δ²))² / δ²,   d = share where only one is right, δ =
///     change of accuracy
///
/// Nothing when the accuracies are equal: no number of examples makes a difference of zero visible.
std::optional<std::int64_t> examples_needed(const Comparison& comparison);

/// The comparison in a sentence, at the 5 % level: "better by 1.20 points (p = 0.003, McNemar,
/// chi-square)", or "no difference found (-0.20 points, p = 0.41, McNemar, exact); about 12 000
/// more examples would be needed".
std::string verdict(const Comparison& comparison);

/// Whether a loss of accuracy stays within what is allowed.
struct Gate {
  double max_drop = 0;  ///< allowed, as a share
  Interval drop;        ///< 95 % interval of the accuracy that was lost
  bool passed = false;  ///< the whole interval is within `max_drop`
  /// "lost 0.20 points (95 %: -0.10 to 0.50); 0.50 are allowed: passed". Where only the number of examples
  /// stands in the way it says how many would do.
  std::string message;
};

/// The candidate passes when its loss is shown to be at most `max_drop`: the far end of the interval counts, so too few
/// examples do not pass.
Gate gate(const Comparison& comparison, double max_drop);

}  // namespace hone
