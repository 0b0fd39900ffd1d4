#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Texts as bytes, the way GPT-2 and RoBERTa see them (Radford et al., "Language models are
/// unsupervised multitask learners", 2019): words with the space before them, and an alphabet in
/// which tokens of any bytes are written as text.
namespace hone {

/// The character that stands for a byte: itself where it is visible in Latin-1, else one from
/// U+0100 on, in order: "Ġ" for a space.
char32_t byte_character(unsigned char byte);

/// The bytes that a token of this alphabet stands for: " film" of "Ġfilm". Nothing if another
/// character stands in it.
std::optional<std::string> bytes_of(std::string_view token);

/// Bytes of a text as people see them: a space as "␣", an ill-formed part of UTF-8, such as a piece
/// of a character, as \xf0.
std::string shown_bytes(std::string_view bytes);

/// Where the word that begins at `begin` ends; `begin` lies before the end of `text`, which is
/// well-formed UTF-8. All bytes belong to words, which are, the first that fits:
///
///     's 't 're 've 'm 'll 'd
///     letters, numbers, or others but white space, with one space (U+0020) before them or none
///     white space; of several before something else, the last is left to the next word
///
/// the expression of GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t word_end(std::string_view text, std::size_t begin);

}  // namespace hone
