#pragma once

#include <optional>
#include <vector>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// Reads and writes tokenizers in model folders with the layout of Hugging Face.
namespace hone {

/// Reads the tokenizer of a model folder: `parse_tokenizer` of the files that exist. `default_class`: see TokenizerTexts.
Tokenizer load_tokenizer(const fs::path& folder, std::string_view default_class = {});

/// Returns whether `folder` contains a vocabulary, and so a tokenizer.
bool has_tokenizer(const fs::path& folder);

/// Returns the tokenizer files in `folder`, to be copied along with a model.
std::vector<fs::path> tokenizer_files(const fs::path& folder);

/// Writes `vocab.txt` and `tokenizer_config.json`, with a maximum of `max_length` tokens, into an existing folder;
/// `load_tokenizer` and transformers' AutoTokenizer read them back. Throws `UserError` for features that these files
/// cannot represent: byte pairs, added tokens, other framing than one special token before and one after each text, a
/// prefix other than "##", a word length other than 100, no cleaning, a token with a line break.
void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder, std::int64_t max_length);

/// Returns the truncation in `folder`/tokenizer_config.json, or nothing if it is not set.
std::optional<Truncation> read_truncation(const fs::path& folder);

/// Sets the truncation in `folder`/tokenizer_config.json. A file that already has it stays unchanged.
void write_truncation(Truncation truncation, const fs::path& folder);

}  // namespace hone
