#include "hone/metrics/verdict_text.h"

#include <fmt/format.h>

#include "hone/base/percentage.h"

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

std::string decided_text(const Verdict& v, bool differ, const ChangeWords& words) {
  const std::string change = change_text(v, words);
  const bool seen = differ && v.change_interval;
  if (v.kept() && seen && v.change_interval->low > 0) return "kept, and better: " + change;
  const char* word = !v.kept()                             ? "lost"
                     : seen && v.change_interval->high < 0 ? "kept, though worse"
                                                           : "kept";
  return fmt::format("{}: {}, {} the margin of {:.2f}", word, change,
                     v.kept() ? "within" : "beyond", 100 * v.margin);
}

std::string flips_text(double share, const std::string& over) {
  return share == 0 ? "; no prediction differs"
                    : fmt::format("; {} flips{}", flip_share_text(share), over);
}

std::string answer_flips_text(double share, const std::string& over) {
  return share == 0 ? "; no answer differs"
                    : fmt::format("; {} of answers differ{}", flip_share_text(share), over);
}

std::string shift_text(double mean_shift) {
  return mean_shift == 0 ? "; no prediction differs"
                         : fmt::format("; predictions move by {:.3g} on average", mean_shift);
}

std::string seed_notes(const FigureName& figure, double difference) {
  constexpr const char* kOver = " on average";
  if (figure == kR2) return shift_text(difference);
  return figure == kMicroF1 ? answer_flips_text(difference, kOver) : flips_text(difference, kOver);
}

}  // namespace hone
