#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// Removes tokens from a tokenizer. Text that remaining tokens spell keeps its encoding.
namespace hone {

/// Returns, by id, whether a token is always kept: special and added tokens, and single characters at the beginning or
/// inside of words, or bytes.
std::vector<char> permanent_tokens(const TokenizerDefinition& definition);

/// The intermediate tokens that produce a token. Word pieces have none; byte pairs need the results of all their
/// merges.
class TokenParts {
 public:
  explicit TokenParts(const TokenizerDefinition& definition);

  /// Returns the ids of the intermediate tokens, without `id`.
  std::vector<std::int32_t> of(std::int32_t id) const;

 private:
  const TokenizerDefinition& definition_;
  PieceTable ids_;
  std::unordered_map<std::string, std::size_t> ranks_;  // keys: "left right"
};

/// Returns the tokenizer with only the tokens `kept`, old ids in ascending order; the new id of each is its index
/// there. Removes merges whose parts or result are gone.
TokenizerDefinition trimmed(const TokenizerDefinition& definition,
                            const std::vector<std::int32_t>& kept);

/// Writes the tokenizer files of folder `from`, which `definition` was read from, with only these tokens into an
/// existing folder. Their other contents stay unchanged.
void write_trimmed_tokenizer(const fs::path& from, const TokenizerDefinition& definition,
                             const std::vector<std::int32_t>& kept, const fs::path& to);

}  // namespace hone
