#include "hone/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "hone/base/error.h"

namespace hone {

bool glob_match(std::string_view glob, std::string_view name) {
  // Greedy with one backtracking point: the last star seen, and how much of the name it has matched.
  std::size_t g = 0, n = 0, star = std::string_view::npos, eaten = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      eaten = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g, ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++eaten;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool matches_any(std::span<const std::string> globs, std::string_view name) {
  return std::ranges::any_of(globs,
                             [&](const std::string& glob) { return glob_match(glob, name); });
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) pieces.emplace_back();
  }
  return pieces;
}

std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return lower;
}

namespace {

// Returns the digits of a word, sorted.
std::string digits_of(std::string_view word) {
  std::string digits;
  for (const char c : word)
    if (c >= '0' && c <= '9') digits += c;
  std::ranges::sort(digits);
  return digits;
}

// Counts insertions, deletions, substitutions and swaps of neighbors (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Removes leading dashes, lowers the case, and replaces dashes by underscores.
std::string plain_word(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
  std::string word(text);
  for (char& c : word) c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return word;
}

std::size_t most_slips(std::size_t letters) { return letters < 6 ? 1 : letters < 12 ? 2 : 3; }

}  // namespace

std::string nearest(std::string_view text, std::span<const std::string> candidates) {
  const std::string word = plain_word(text);
  std::string best;
  std::size_t best_distance = most_slips(word.size()) + 1;
  if (word.empty()) return best;
  for (const std::string& candidate : candidates) {
    const std::string other = plain_word(candidate);
    const std::size_t longer = std::max(word.size(), other.size());
    const std::size_t shorter = std::min(word.size(), other.size());
    if (longer - shorter >= best_distance) continue;  // names in files may be very long
    // Names with different digits are different things: L-4 is not a misspelt L-2.
    if (digits_of(word) != digits_of(other)) continue;
    const std::size_t distance = edit_distance(word, other);
    // The first letter is rarely mistyped: "albert" is not a typo of "bert".
    if (distance > 1 && word[0] != other[0]) continue;
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

namespace {
constexpr std::string_view kByteUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
}  // namespace

std::size_t byte_unit(double bytes) {
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kByteUnits); ++unit) bytes /= 1024;
  return unit;
}

std::string bytes_in_unit(double bytes, std::size_t unit, bool decimals) {
  for (std::size_t i = 0; i < unit; ++i) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, decimals ? 2 : 0, kByteUnits[unit]);
}

std::string human_bytes(double bytes) {
  const std::size_t unit = byte_unit(bytes);
  const double size = std::ldexp(1.0, 10 * static_cast<int>(unit));
  return bytes_in_unit(bytes, unit, unit > 0 && std::fmod(bytes, size) != 0);
}

std::string three_digits(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  constexpr double kTakesExponent = 1e-5;
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < kTakesExponent) return fmt::format("{:.2e}", value);
  // Values that round up to the next power of ten, such as 9.996, get one decimal less.
  constexpr double kRoundsDown = 1 - 0.0005;
  const auto decimals = 2 - static_cast<int>(std::floor(std::log10(size / kRoundsDown)));
  constexpr double kWholeNumbers = 1e15;
  if (decimals < 0 && size < kWholeNumbers) return grouped(std::llround(value));
  return fmt::format("{:.{}f}", value, std::max(0, decimals));
}

namespace {

// Uses enough digits to distinguish the ratio from 1, up to six: the bounds of an interval must show on which side of 1
// they are.
std::string ratio_text(double ratio) {
  std::string text = three_digits(ratio);
  const auto is_one = [&] {
    return text.starts_with("1.") && text.find_first_not_of('0', 2) == std::string::npos;
  };
  for (int decimals = 3; decimals <= 6 && ratio > 1 && is_one(); ++decimals)
    text = fmt::format("{:.{}f}", ratio, decimals);
  return text;
}

}  // namespace

std::string speed_text(double ratio) {
  return fmt::format("{}× {}", ratio_text(ratio < 1 ? 1 / ratio : ratio),
                     ratio < 1 ? "slower" : "faster");
}

std::string speed_range_text(double low, double high) {
  if (low >= 1) return fmt::format("{} to {}", ratio_text(low), ratio_text(high));
  if (high < 1) return fmt::format("{} to {}", ratio_text(1 / high), ratio_text(1 / low));
  return fmt::format("{} to {}", speed_text(low), speed_text(high));
}

std::string capitalized(std::string text) {
  std::size_t word = 0;
  while (word < text.size() && std::isalpha(static_cast<unsigned char>(text[word])) != 0) ++word;
  const bool letters =
      word > 0 &&
      (word == text.size() || std::string_view(" ,:;").find(text[word]) != std::string_view::npos);
  if (letters && 'a' <= text[0] && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

std::string grouped(long long value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

double parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const bool is_number = error == std::errc() && std::isfinite(number) && number > 0;
  user_check(!is_number || !unit.empty(),
             "'{0}' has no unit; give seconds, minutes or hours: {0}s, {0}m or {0}h", text);
  user_check(is_number && seconds > 0, "expected a time such as 90s, 30m or 2h, got '{}'", text);
  return number * seconds;
}

std::string counted_text(long long count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace hone
