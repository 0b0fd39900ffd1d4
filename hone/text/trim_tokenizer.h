#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// A tokenizer with fewer tokens: what is spelled by tokens that stay is spelled as before.
namespace hone {

/// By id, whether a token stays whatever texts hold: special and added ones, and those of one character, be it the begin of a
/// word or its continuation, or a byte.
std::vector<char> lasting_tokens(const TokenizerDefinition& definition);

/// What tokens are made through. Of word pieces nothing; of byte pairs what their merges join on the way, without which they
/// would not be made.
class TokenParts {
 public:
  explicit TokenParts(const TokenizerDefinition& definition);

  /// The ids of such tokens, `id` left out.
  std::vector<std::int32_t> of(std::int32_t id) const;

 private:
  const TokenizerDefinition& definition_;
  PieceTable ids_;
  std::unordered_map<std::string, std::size_t> ranks_;  // of "left right"
};

/// The tokenizer with the tokens `kept` alone, rising ids before; the id of each is its place there. Merges of which a part or
/// the result is gone go too.
TokenizerDefinition trimmed(const TokenizerDefinition& definition,
                            const std::vector<std::int32_t>& kept);

/// Writes the tokenizer's files of the folder `from`, which say what `definition` has, with these tokens alone into an existing
/// folder. What else stands in them stays.
void write_trimmed_tokenizer(const fs::path& from, const TokenizerDefinition& definition,
                             const std::vector<std::int32_t>& kept, const fs::path& to);

}  // namespace hone
