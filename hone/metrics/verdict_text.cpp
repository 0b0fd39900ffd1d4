#include "hone/metrics/verdict_text.h"

#include <fmt/format.h>

#include "hone/base/percentage.h"
#include "hone/base/text.h"

namespace hone {

std::string change_text(const Verdict& v, const ChangeWords& words) {
  std::string text = fmt::format("{} points of {}{}",
                                 words.figures.empty() ? points_text(v.change) : words.figures,
                                 v.figure.text, words.over);
  if (v.change_interval)
    text += fmt::format(" (95 %{}: {} to {})", words.of, points_text(v.change_interval->low),
                        points_text(v.change_interval->high));
  return text;
}

std::string margin_text(double margin) {
  return margin < 0 ? fmt::format("{:.2f} to be gained", -100 * margin)
                    : fmt::format("margin {:.2f}", 100 * margin);
}

std::string decided_text(const Verdict& v, bool differ, const ChangeWords& words) {
  const std::string change = change_text(v, words);
  const bool seen = differ && v.change_interval;
  if (v.kept() && seen && v.change_interval->low > 0) return "kept, and better: " + change;
  const char* word = !v.kept()                             ? "lost"
                     : seen && v.change_interval->high < 0 ? "kept, though worse"
                                                           : "kept";
  if (v.margin < 0)
    return fmt::format("{}: {}, {} than the {:.2f} to be gained", word, change,
                       v.kept() ? "not less" : "less", -100 * v.margin);
  return fmt::format("{}: {}, {} the margin of {:.2f}", word, change,
                     v.kept() ? "within" : "beyond", 100 * v.margin);
}

std::string differing_text(std::int64_t count, std::int64_t of, std::string_view what) {
  if (count == 0) return fmt::format("; no {} differs", what);
  return fmt::format("; {} of {} {}s differ", grouped(count), grouped(of), what);
}

std::string shift_text(double mean_shift) {
  return mean_shift == 0 ? "; no prediction differs"
                         : fmt::format("; predictions move by {:.3g} on average", mean_shift);
}

std::string seed_notes(const FigureName& figure, double difference) {
  if (figure == kR2) return shift_text(difference);
  const bool labels = figure == kMicroF1;
  if (difference == 0) return labels ? "; no answer differs" : "; no prediction differs";
  return fmt::format("; {} {} on average", flip_share_text(difference),
                     labels ? "of answers differ" : "flips");
}

}  // namespace hone
