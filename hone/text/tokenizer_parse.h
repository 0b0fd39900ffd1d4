#pragma once

#include <optional>
#include <string>

#include "hone/base/file.h"
#include "hone/text/json_members.h"
#include "hone/text/tokenizer.h"

/// What the files of a tokenizer say together.
namespace hone {

/// The contents of a tokenizer's files, as far as they are there.
struct TokenizerTexts {
  fs::path folder = {};                             ///< for messages
  std::optional<std::string> json = {};             ///< tokenizer.json
  std::optional<std::string> vocabulary = {};       ///< vocab.txt of WordPiece, unless `json`
  std::optional<std::string> byte_vocabulary = {};  ///< vocab.json of BPE, unless one of these
  std::optional<std::string> merges = {};           ///< merges.txt beside vocab.json
  std::optional<std::string> config = {};           ///< tokenizer_config.json
  std::optional<std::string> special = {};          ///< special_tokens_map.json
  std::optional<std::string> added = {};            ///< added_tokens.json
  /// The class of transformers that reads the files where tokenizer_config.json names none; empty:
  /// any that can.
  std::string usual_class = {};
};

/// The key of tokenizer_config.json for `Truncation::head_tail`, which `truncation_side` cannot say; transformers ignores it.
inline constexpr const char* kTruncationKey = "hone_truncation";

/// What tokenizer_config.json says of texts that are too long; none where it is silent. Throws `UserError` for other values.
std::optional<Truncation> said_truncation(const Members& config);

/// The vocabulary comes from `tokenizer.json` if there is one, else from `vocab.txt` (one token per
/// line), else from `vocab.json` and `merges.txt`. What is done to text and the names of special
/// tokens come from `tokenizer_config.json` where it says them, else from `tokenizer.json`, else
/// they are those of the uncased BERT or of RoBERTa. Added tokens come from "added_tokens_decoder"
/// of `tokenizer_config.json`; without it from `tokenizer.json`, `special_tokens_map.json` and
/// `added_tokens.json`. All as transformers 5 does; docs/reference/tokenizers.md has the rules.
///
/// Throws `UserError` with the path: no tokenizer there, a class or a key that asks for other
/// software, a model that is neither WordPiece nor byte-level BPE, anything else in
/// `tokenizer.json` that these do not do, a token twice, no unknown token where the model needs one,
/// vocab.txt alone for a class that reads byte pairs, files that programs read differently, and a
/// WordPiece vocabulary that contradicts a case which no tokenizer_config.json vouches for.
Tokenizer parse_tokenizer(const TokenizerTexts& texts);

}  // namespace hone
