#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/metrics/verdict.h"

/// Texts that verdicts on one model and over seeds share.
namespace hone {

/// Additions to the text of a change.
struct ChangeTextOptions {
  std::string values = {};  ///< instead of the change: "+0.02, -0.10"
  std::string over = {};    ///< " on average over 5 seeds"
  std::string of = {};      ///< scope of the interval: " for other seeds and examples:"
};

/// Returns "accuracy changed by +0.02 points (95% CI -0.10 to +0.14)".
std::string change_text(const Verdict& verdict, const ChangeTextOptions& options = {});

/// Returns "the allowed drop of 0.50"; for a negative margin, which requires a gain, "the required gain of 1.00".
std::string limit_text(double margin);

/// Returns a conclusive change: "accuracy changed by -0.30 points (95% CI -0.44 to -0.17), a significant drop, within
/// the allowed drop of 0.50". For a significant gain the allowed drop is left out. `differ`: whether the exact test,
/// which is stricter if few predictions differ, finds a change too.
std::string decided_text(const Verdict& verdict, bool differ,
                         const ChangeTextOptions& options = {});

/// Returns a change without a limit: "accuracy changed by -0.30 points (95% CI -0.44 to -0.17), a significant drop",
/// and `notes`. `differ` as above.
std::string unjudged_text(const Verdict& verdict, bool differ, const std::string& notes,
                          const ChangeTextOptions& options = {});

/// Returns how many of the compared ones changed, each a `what`: "; 12 of 4,000 predictions changed"; "; no prediction
/// changed".
std::string differing_text(std::int64_t count, std::int64_t of, std::string_view what);
/// Returns "; predictions changed by 0.02 on average" or "; no prediction changed".
std::string shift_text(double mean_shift);

/// Returns the text after a change over seeds, from the mean difference of predictions: by the metric's task the share
/// of flips, of labels that changed, or the mean shift.
std::string seed_notes(const MetricName& metric, double difference);

}  // namespace hone
