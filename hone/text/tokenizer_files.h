#pragma once

#include <optional>
#include <vector>

#include "hone/base/file.h"
#include "hone/text/tokenizer.h"

/// Tokenizers in model folders as Hugging Face lays them out.
namespace hone {

/// Reads the tokenizer of a model folder: `parse_tokenizer` of the files that are there. `usual_class`: see TokenizerTexts.
Tokenizer load_tokenizer(const fs::path& folder, std::string_view usual_class = {});

/// Whether there is a vocabulary in `folder`, and so a tokenizer to be read.
bool has_tokenizer(const fs::path& folder);

/// The tokenizer's files that stand in `folder`, to be copied along with a model.
std::vector<fs::path> tokenizer_files(const fs::path& folder);

/// Writes `vocab.txt` and `tokenizer_config.json`, which says that texts have at most
/// `max_length` tokens, into an existing folder; `load_tokenizer` and transformers' AutoTokenizer
/// read them back. Throws `UserError` for what these two files cannot
/// say: byte pairs, added tokens, other special tokens around texts than one in front and one behind
/// each, a prefix other than "##", another word length than 100, no cleaning, a token with a line
/// break.
void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder, std::int64_t max_length);

/// What `tokenizer_config.json` in `folder` says of texts that are too long; none where it is silent or not there.
std::optional<Truncation> read_truncation(const fs::path& folder);

/// Makes `tokenizer_config.json` in `folder` say that texts that are too long are cut so. A file that says it stays as it is.
void write_truncation(Truncation truncation, const fs::path& folder);

}  // namespace hone
