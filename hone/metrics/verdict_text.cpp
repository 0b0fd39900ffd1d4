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

}  // namespace hone
