#include "hone/text/row_hash.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "hone/base/hash.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

constexpr Normalization kFolding{.split_cjk = false, .strip_accents = false};

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// As `kFolding` has it.
std::string folded_ascii(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  for (const char c : text) {
    if (c == '\t' || c == '\n' || c == '\r') {
      folded += ' ';
    } else if (c >= 'A' && c <= 'Z') {
      folded += static_cast<char>(c - 'A' + 'a');
    } else if (c >= 0x20 && c != 0x7f) {
      folded += c;
    }
  }
  return folded;
}

// Without spaces around it, and one where there are several.
std::string folded(std::string_view text) {
  std::string folded = is_ascii(text) ? folded_ascii(text) : normalize(kFolding, text);
  const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  folded.erase(std::unique(folded.begin(), folded.end(), both_spaces), folded.end());
  if (folded.ends_with(' ')) folded.pop_back();
  if (folded.starts_with(' ')) folded.erase(folded.begin());
  return folded;
}

}  // namespace

std::uint64_t row_hash(const Example& example) {
  std::string text = folded(example.text);
  if (example.text_pair) text += '\0' + folded(*example.text_pair);
  return short_fingerprint(text);
}

std::vector<std::uint64_t> row_hashes(std::span<const Example> examples) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(examples.size());
  for (const Example& example : examples) hashes.push_back(row_hash(example));
  return hashes;
}

std::vector<std::int32_t> text_numbers(std::span<const std::uint64_t> row_hashes) {
  std::unordered_map<std::uint64_t, std::int32_t> number_of;
  std::vector<std::int32_t> numbers;
  numbers.reserve(row_hashes.size());
  for (const std::uint64_t hash : row_hashes)
    numbers.push_back(
        number_of.emplace(hash, static_cast<std::int32_t>(number_of.size())).first->second);
  return numbers;
}

}  // namespace hone
