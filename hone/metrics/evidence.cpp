#include "hone/metrics/evidence.h"

#include <cmath>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

double evidence(std::span<const std::int32_t> texts) {
  if (texts.empty()) return 1;
  std::vector<std::int64_t> rows(texts.size(), 0);
  for (const std::int32_t text : texts) ++rows[static_cast<std::size_t>(text)];
  double squares = 0;  // whole numbers: exact below 2^53
  for (const std::int64_t count : rows) squares += static_cast<double>(count * count);
  return static_cast<double>(texts.size()) / squares;
}

std::int64_t effective_examples(std::int64_t examples, double evidence) {
  return std::llround(static_cast<double>(examples) * evidence);
}

bool is_notably_less(std::int64_t effective, std::int64_t examples) {
  return 20 * (examples - effective) > examples;
}

std::string sample_size_text(std::int64_t examples, std::int64_t effective) {
  std::string text = "n = " + grouped(examples);
  if (is_notably_less(effective, examples))
    text += fmt::format(" (effective {})", grouped(effective));
  return text;
}

std::string split_text(const std::string& split, std::int64_t examples, std::int64_t effective,
                       std::span<const std::string> cautions) {
  std::string text = split + ", " + sample_size_text(examples, effective);
  for (const std::string& words : cautions) text += ", " + words;
  return text;
}

}  // namespace hone
