#pragma once

#include <optional>
#include <string>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// What the files of a tokenizer say together.
namespace hone {

/// The contents of a tokenizer's files, as far as they are there.
struct TokenizerTexts {
  fs::path folder;                        ///< for messages
  std::optional<std::string> json;        ///< tokenizer.json
  std::optional<std::string> vocabulary;  ///< vocab.txt, needed only without `json`
  std::optional<std::string> config;      ///< tokenizer_config.json
};

/// The vocabulary comes from `tokenizer.json` if there is one, else from `vocab.txt` (one token per
/// line). Normalization and special tokens come from `tokenizer_config.json` where it names them,
/// else from `tokenizer.json`, else they are those of the uncased models. Throws `UserError` with
/// the path: neither file there, a model that is not WordPiece, a token twice, no unknown token, an
/// added token with matching rules beyond plain text, files that contradict each other about case,
/// and a vocabulary that contradicts a case which no tokenizer_config.json vouches for.
Tokenizer parse_tokenizer(const TokenizerTexts& texts);

}  // namespace hone
