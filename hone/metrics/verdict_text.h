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
  std::string of = {};       ///< what the interval speaks of: ", other seeds and texts"
};

/// "+0.02 points of accuracy (95 %: -0.10 to +0.14)"
std::string change_text(const Verdict& verdict, const ChangeWords& words = {});

/// "margin 0.50"; of a negative one, which asks for a gain, "1.00 to be gained".
std::string margin_text(double margin);

/// What is kept or lost: "kept, though worse: -0.30 points of accuracy (95 %: -0.44 to -0.17), within the margin of 0.50".
/// A change that is shown to be none or one is called so. `differ`: that the exact test, which asks for more where few
/// predictions differ, sees a change too.
std::string decided_text(const Verdict& verdict, bool differ, const ChangeWords& words = {});

/// How many of those that were compared differ, each a `what`: "; 12 of 4 000 predictions differ"; "; no prediction differs".
std::string differing_text(std::int64_t count, std::int64_t of, std::string_view what);
/// "; predictions move by 0.02 on average"; "; no prediction differs".
std::string shift_text(double mean_shift);

/// What follows a change over seeds, from the mean over them of what their answers differ by: of the figure's task the share of
/// flips, of answers that differ, or the mean shift.
std::string seed_notes(const FigureName& figure, double difference);

}  // namespace hone
