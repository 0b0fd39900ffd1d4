#include "hone/metrics/figure_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

constexpr double kSmallestExcess = kNormal975 * kNormal975;

/// What the texts say together.
struct TextSums {
  double count = 0;        ///< G
  double squares = 0;      ///< Σ u²
  double differ = 0;       ///< K
  double mean_square = 0;  ///< of u where the models differ, or what is assumed of it

  double deviation() const {
    return std::sqrt(count / (count - 1) * (squares + kSmallestExcess * mean_square));
  }
  double differing_rate() const { return (differ + 0.5) / (count + 1); }
};

TextSums sums_by_text(const PairedContributions& c, std::span<const std::int32_t> texts) {
  struct Text {
    double sum = 0;
    bool stands = false, differs = false;
  };
  std::vector<Text> by_text(c.values.size());
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    Text& text = by_text[texts.empty() ? i : static_cast<std::size_t>(texts[i])];
    text.sum += c.values[i];
    text.stands = true;
    text.differs |= c.differ[i] != 0;
  }
  TextSums sums;
  for (const Text& text : by_text) {
    sums.count += text.stands;
    sums.squares += text.sum * text.sum;
    sums.differ += text.differs;
  }
  // A text that stands in several rows adds as many times as much.
  const double least = c.least / evidence(texts);
  sums.mean_square = sums.squares > 0 ? sums.squares / sums.differ : least * least;
  return sums;
}

// The least n at which a share of `rate` of n texts, each of size `size` / n, tells a change `gap` from none:
// n gap / size ≥ z sqrt(rate n + 1.96²) + 0.84 sqrt(rate n), of which the left side grows faster.
std::optional<std::int64_t> texts_needed(double gap, double size, double rate, double z) {
  const auto tells = [&](std::int64_t count) {
    const double n = static_cast<double>(count);
    return n * gap >=
           size * (z * std::sqrt(rate * n + kSmallestExcess) + kNormal80 * std::sqrt(rate * n));
  };
  if (!(gap > 0) || !tells(kMostExamples)) return std::nullopt;
  std::int64_t low = 0, high = kMostExamples;  // the one does not tell, the other does
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (tells(middle) ? high : low) = middle;
  }
  return high;
}

std::string condition_of(const TextSums& sums) {
  if (sums.differ > 0) return condition_text({});
  return fmt::format(
      "the true change is none and one text in {} (none was seen) has another answer",
      grouped(std::llround(1 / sums.differing_rate())));
}

}  // namespace

FigureChange accuracy_change(const Comparison& c) {
  if (c.examples == 0) return {.interval = Interval{-1, 1}, .score = [](double) { return 0.0; }};
  const DisagreementRates rates = rates_seen(c);
  return {.examples = c.examples,
          .evidence = c.evidence,
          .change = c.accuracy_change(),
          .interval = accuracy_change_interval(c),
          .score = [c](double change) { return tango_score(c, std::max(change, -1.0)); },
          .needed = [rates](double margin, double z) { return planned_examples(rates, margin, z); },
          .condition = condition_text(rates),
          .differs = c.mcnemar_p <= 0.05,
          .notes = flips_text(c.flips == 0 ? 0 : c.flip_share)};
}

FigureChange paired_change(std::string figure, double change,
                           const PairedContributions& contributions,
                           std::span<const std::int32_t> texts) {
  HONE_ASSERT(contributions.values.size() == contributions.differ.size() &&
                  (texts.empty() || texts.size() == contributions.values.size()),
              "{} contributions, {} marks, {} texts", contributions.values.size(),
              contributions.differ.size(), texts.size());
  FigureChange result{.figure = std::move(figure),
                      .examples = std::ssize(contributions.values),
                      .evidence = evidence(texts),
                      .change = change};
  const TextSums sums = sums_by_text(contributions, texts);
  if (std::isnan(change) || sums.count < 2) {
    result.change = std::numeric_limits<double>::quiet_NaN();
    if (sums.count == 1) result.notes = "; there is one text alone";
    return result;
  }
  const double half = student_975(static_cast<std::int64_t>(sums.count) - 1) * sums.deviation();
  result.interval = Interval{change - half, change + half};
  // In units of which 1.96 are Student's half width, so that rule and interval say the same.
  result.score = [change, half](double other) { return kNormal975 * (change - other) / half; };
  result.needed = [change, sums](double margin, double z) {
    return texts_needed(std::abs(change + margin), std::sqrt(sums.mean_square) * sums.count,
                        sums.differing_rate(), z);
  };
  result.condition = condition_of(sums);
  return result;
}

}  // namespace hone
