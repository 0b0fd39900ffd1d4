#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/metrics/verdict.h"

/// The words that verdicts on one model and those over seeds share.
namespace hone {

/// What is said of a change beside its own figures.
struct ChangeWords {
  std::string figures = {};  ///< in place of the change: "+0.02, -0.10"
  std::string over = {};     ///< " on average over 5 seeds"
  std::string of = {};       ///< what the interval holds for: " for other seeds and examples:"
};

/// "accuracy changed by +0.02 points (95% CI -0.10 to +0.14)"
std::string change_text(const Verdict& verdict, const ChangeWords& words = {});

/// "the allowed drop of 0.50"; of a negative margin, which asks for a gain, "the required gain of 1.00".
std::string limit_text(double margin);

/// A conclusive change: "accuracy changed by -0.30 points (95% CI -0.44 to -0.17), a significant drop, within the allowed drop of
/// 0.50". A significant gain needs no allowed drop, and has none. `differ`: that the exact test, which asks for more where few
/// predictions differ, finds a change too.
std::string decided_text(const Verdict& verdict, bool differ, const ChangeWords& words = {});

/// A change for which nobody asked for a limit: "accuracy changed by -0.30 points (95% CI -0.44 to -0.17), a significant drop", and
/// `notes`. `differ` as above.
std::string unjudged_text(const Verdict& verdict, bool differ, const std::string& notes,
                          const ChangeWords& words = {});

/// How many of those that were compared differ, each a `what`: "; 12 of 4,000 predictions changed"; "; no prediction changed".
std::string differing_text(std::int64_t count, std::int64_t of, std::string_view what);
/// "; predictions changed by 0.02 on average"; "; no prediction changed".
std::string shift_text(double mean_shift);

/// What follows a change over seeds, from the mean over them of what their answers differ by: of the figure's task the share of
/// flips, of answers that differ, or the mean shift.
std::string seed_notes(const MetricName& figure, double difference);

}  // namespace hone
