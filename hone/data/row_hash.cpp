#include "hone/data/row_hash.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "hone/base/hash.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

constexpr Normalization kFolding{.split_cjk = false, .strip_accents = false};

bool is_ascii(std::string_view text) {
  unsigned char all_bits = 0;  // no early exit, so that the loop is vectorized
  for (const char c : text) all_bits |= static_cast<unsigned char>(c);
  return all_bits < 0x80;
}

// ASCII characters normalized by `kFolding`; 0: removed.
constexpr std::array<char, 0x80> kFoldedAscii = [] {
  std::array<char, 0x80> table = {};
  for (char c = ' '; c < 0x7f; ++c) table[static_cast<std::size_t>(c)] = c;
  for (char c = 'A'; c <= 'Z'; ++c)
    table[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (const char c : {'\t', '\n', '\r'}) table[static_cast<std::size_t>(c)] = ' ';
  return table;
}();

// Branchless: writes every character and advances only if it stays. Texts are hashed often, and a branch per character
// would dominate the cost.
std::string folded_ascii(std::string_view text) {
  std::string folded(text.size(), '\0');
  std::size_t size = 0;
  char last = ' ';  // drops leading spaces
  for (const char c : text) {
    const char own = kFoldedAscii[static_cast<unsigned char>(c)];
    const bool stays = own != 0 && !(own == ' ' && last == ' ');
    folded[size] = own;
    size += stays ? 1 : 0;
    last = stays ? own : last;
  }
  folded.resize(size);
  return folded;
}

// Normalizes, drops leading spaces and collapses repeated ones.
std::string folded_unicode(std::string_view text) {
  std::string folded = normalize(kFolding, text);
  const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  folded.erase(std::unique(folded.begin(), folded.end(), both_spaces), folded.end());
  if (folded.starts_with(' ')) folded.erase(folded.begin());
  return folded;
}

// Also drops trailing spaces.
std::string folded(std::string_view text) {
  std::string folded = is_ascii(text) ? folded_ascii(text) : folded_unicode(text);
  if (folded.ends_with(' ')) folded.pop_back();
  return folded;
}

}  // namespace

std::uint64_t row_hash(const Example& example) {
  if (example.image_hash != 0) return example.image_hash;
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
