#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Byte-level pre-tokenization of GPT-2 and RoBERTa (Radford et al., "Language models are unsupervised multitask
/// learners", 2019): words include the space before them, and a special alphabet represents tokens of arbitrary bytes
/// as text.
namespace hone {

/// Returns the character that represents a byte: itself if it is visible in Latin-1, else one from U+0100 on, in order:
/// "Ġ" for a space.
char32_t byte_character(unsigned char byte);

/// Returns the bytes that a token in this alphabet represents: " film" for "Ġfilm". Returns nothing if it contains
/// another character.
std::optional<std::string> bytes_of(std::string_view token);

/// Formats bytes for display: a space as "␣", an ill-formed UTF-8 sequence, such as part of a character, as \xf0.
std::string shown_bytes(std::string_view bytes);

/// Returns the end of the word at `begin`, which must be before the end of `text`, well-formed UTF-8. All bytes belong
/// to words. A word is the first match of:
///
///     's 't 're 've 'm 'll 'd
///     letters, numbers, or other characters except white space, with an optional preceding space (U+0020)
///     white space; if something else follows several, the last one is left to the next word
///
/// GPT-2's expression: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t word_end(std::string_view text, std::size_t begin);

}  // namespace hone
