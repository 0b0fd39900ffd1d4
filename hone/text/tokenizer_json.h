#pragma once

#include <string_view>

#include "hone/text/tokenizer_draft.h"

namespace hone {

/// Reads tokenizer.json as the library `tokenizers` does, for which what is null is not done: WordPiece as BERT has it or
/// byte-level BPE as GPT-2 and RoBERTa have it, added tokens, and how special tokens stand around texts. Throws `UserError`
/// for what these two do not do, with what stood there and what is supported.
void read_tokenizer_json(std::string_view text, TokenizerDraft& draft);

}  // namespace hone
