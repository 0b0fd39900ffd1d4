#pragma once

#include <string_view>

#include "hone/text/tokenizer_draft.h"

namespace hone {

/// Reads tokenizer.json as the `tokenizers` library does, where null disables a step. Supports WordPiece as in BERT,
/// byte-level BPE as in GPT-2 and RoBERTa, added tokens, and special tokens around texts. Throws `UserError` for
/// anything else, with the value and the supported ones.
void read_tokenizer_json(std::string_view text, TokenizerDraft& draft);

}  // namespace hone
