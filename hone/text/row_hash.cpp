#include "hone/text/row_hash.h"

#include <unordered_map>

#include "hone/base/hash.h"
#include "hone/base/text.h"

namespace hone {

std::uint64_t row_hash(const Example& example) {
  if (!example.text_pair) return short_fingerprint(trim(example.text));
  std::string both(trim(example.text));
  both += '\0';
  both += trim(*example.text_pair);
  return short_fingerprint(both);
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
