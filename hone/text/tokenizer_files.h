#pragma once

#include <vector>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// Tokenizers in model folders as Hugging Face lays them out.
namespace hone {

/// Reads the tokenizer of a model folder.
///
/// The vocabulary comes from `tokenizer.json` if there is one, else from `vocab.txt` (one token per
/// line). Normalization and special tokens come from `tokenizer_config.json` where it names them,
/// else from `tokenizer.json`, else they are those of the uncased models. Throws `UserError` with
/// the path: neither file there, a model that is not WordPiece, a token twice, no unknown token, an
/// added token with matching rules beyond plain text.
Tokenizer load_tokenizer(const fs::path& folder);

/// The tokenizer's files that stand in `folder`, to be copied along with a model.
std::vector<fs::path> tokenizer_files(const fs::path& folder);

/// Writes `vocab.txt` and `tokenizer_config.json` into an existing folder; `load_tokenizer` and
/// transformers' AutoTokenizer read them back. Throws `UserError` for what these two files cannot
/// say: added tokens, a prefix other than "##", another word length than 100, no cleaning, a token
/// with a line break.
void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder);

}  // namespace hone
