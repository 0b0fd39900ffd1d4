#pragma once

#include <string_view>

#include "hone/text/tokenizer_draft.h"

/// Vocabularies in files of their own.
namespace hone {

/// vocab.txt: one token per line, whose number is its id, from 0, without the white space behind it.
/// An empty line is an id without a token, as is the former of two equal lines. (As `tokenizers`
/// reads it.) Throws `UserError` with the line.
void read_vocabulary_lines(std::string_view text, TokenizerDraft& draft);

/// vocab.json: an object of tokens and ids.
void read_vocabulary_object(std::string_view text, TokenizerDraft& draft);

/// merges.txt, for a draft of byte pairs: one merge per line, but for a first line "#version: …". Throws `UserError` with the
/// line.
void read_merges(std::string_view text, TokenizerDraft& draft);

/// "left right"; throws `UserError` for anything else.
Merge parse_merge(std::string_view text);

}  // namespace hone
