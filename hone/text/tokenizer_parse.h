#pragma once

#include <optional>
#include <string>

#include "hone/base/file.h"
#include "hone/text/json_members.h"
#include "hone/text/tokenizer.h"

/// Combines the files of a tokenizer.
namespace hone {

/// The contents of a tokenizer's files, if they exist.
struct TokenizerTexts {
  fs::path folder = {};                             ///< for messages
  std::optional<std::string> json = {};             ///< tokenizer.json
  std::optional<std::string> vocabulary = {};       ///< vocab.txt of WordPiece, unless `json`
  std::optional<std::string> byte_vocabulary = {};  ///< vocab.json of BPE, unless one of these
  std::optional<std::string> merges = {};           ///< merges.txt beside vocab.json
  std::optional<std::string> config = {};           ///< tokenizer_config.json
  std::optional<std::string> special = {};          ///< special_tokens_map.json
  std::optional<std::string> added = {};            ///< added_tokens.json
  /// The transformers class to use if tokenizer_config.json names none; empty: any that fits.
  std::string default_class = {};
};

/// The key of tokenizer_config.json for `Truncation::head_tail`, which `truncation_side` cannot represent; transformers
/// ignores it.
inline constexpr const char* kTruncationKey = "hone_truncation";

/// Returns the truncation in tokenizer_config.json, or nothing if it is not set. Throws `UserError` for other values.
std::optional<Truncation> configured_truncation(const Members& config);

/// Builds a tokenizer from its files. The vocabulary comes from `tokenizer.json` if it exists, else from `vocab.txt`
/// (one token per line), else from `vocab.json` and `merges.txt`. Normalization and the names of special tokens come
/// from `tokenizer_config.json`, else from `tokenizer.json`; the defaults are those of the uncased BERT or of RoBERTa.
/// Added tokens come from "added_tokens_decoder" in `tokenizer_config.json`; without it from `tokenizer.json`,
/// `special_tokens_map.json` and `added_tokens.json`. This follows transformers 5; docs/reference/tokenizers.md has the
/// rules.
///
/// Throws `UserError` with the path for: no tokenizer, a class or key that needs other software, a model other than
/// WordPiece and byte-level BPE, unsupported features in `tokenizer.json`, a duplicate token, a missing unknown token
/// that the model needs, vocab.txt alone for a class that reads byte pairs, settings that programs interpret
/// differently, and a WordPiece vocabulary that contradicts the assumed case if tokenizer_config.json does not set it.
Tokenizer parse_tokenizer(const TokenizerTexts& texts);

}  // namespace hone
