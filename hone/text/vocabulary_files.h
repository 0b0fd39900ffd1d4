#pragma once

#include <string_view>

#include "hone/text/tokenizer_draft.h"

/// Reads vocabularies in files of their own.
namespace hone {

/// Reads vocab.txt: one token per line, whose number from 0 is its id, without trailing white space. An empty line is
/// an id without a token, as is the earlier of two equal lines. (As in `tokenizers`.) Throws `UserError` with the line.
void read_vocabulary_lines(std::string_view text, TokenizerDraft& draft);

/// Reads vocab.json: an object of tokens and ids.
void read_vocabulary_object(std::string_view text, TokenizerDraft& draft);

/// Reads merges.txt for a draft of byte pairs: one merge per line, except lines that begin with "#version". Throws
/// `UserError` with the line.
void read_merges(std::string_view text, TokenizerDraft& draft);

/// Parses "left right"; throws `UserError` for anything else.
Merge parse_merge(std::string_view text);

}  // namespace hone
