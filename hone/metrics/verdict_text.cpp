#include "hone/metrics/verdict_text.h"

#include <fmt/format.h>

#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"

namespace hone {

std::string change_text(const Verdict& v, const ChangeTextOptions& options) {
  std::string text =
      fmt::format("{} changed by {} points{}", v.metric.text,
                  options.values.empty() ? points_text(v.change) : options.values, options.over);
  if (v.change_interval)
    text += fmt::format(" (95% CI{} {} to {})", options.of, points_text(v.change_interval->low),
                        points_text(v.change_interval->high));
  return text;
}

std::string limit_text(double margin) {
  return margin < 0 ? fmt::format("the required gain of {:.2f}", -100 * margin)
                    : fmt::format("the allowed drop of {:.2f}", 100 * margin);
}

std::string decided_text(const Verdict& v, bool differ, const ChangeTextOptions& options) {
  const bool seen = differ && v.change_interval;
  const bool gain = seen && v.change_interval->low > 0;
  if (gain && v.within_limit() && v.margin >= 0)
    return change_text(v, options) + ", a significant gain";
  const char* significant = gain ? ", a significant gain"
                            : v.within_limit() && seen && v.change_interval->high < 0
                                ? ", a significant drop"
                                : "";
  const char* beside = v.margin < 0 ? (v.within_limit() ? "at least" : "less than")
                                    : (v.within_limit() ? "within" : "more than");
  return fmt::format("{}{}, {} {}", change_text(v, options), significant, beside,
                     limit_text(v.margin));
}

std::string unjudged_text(const Verdict& v, bool differ, const std::string& notes,
                          const ChangeTextOptions& options) {
  if (std::isnan(v.change)) return fmt::format("{} is not defined{}", v.metric.text, notes);
  const bool seen = differ && v.change_interval;
  const char* significant = seen && v.change_interval->low > 0    ? ", a significant gain"
                            : seen && v.change_interval->high < 0 ? ", a significant drop"
                                                                  : "";
  return change_text(v, options) + significant + notes;
}

std::string differing_text(std::int64_t count, std::int64_t of, std::string_view what) {
  if (count == 0) return fmt::format("; no {} changed", what);
  return fmt::format("; {} of {} {}s changed", grouped(count), grouped(of), what);
}

std::string shift_text(double mean_shift) {
  return mean_shift == 0 ? "; no prediction changed"
                         : fmt::format("; predictions changed by {:.3g} on average", mean_shift);
}

std::string seed_notes(const MetricName& metric, double difference) {
  if (metric == kR2) return shift_text(difference);
  const bool labels = metric == kMicroF1;
  if (difference == 0) return labels ? "; no label changed" : "; no prediction changed";
  return fmt::format("; {} of {} changed on average", flip_share_text(difference),
                     labels ? "labels" : "predictions");
}

}  // namespace hone
