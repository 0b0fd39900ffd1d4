#include "hone/text/row_hash.h"

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

}  // namespace hone
