#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/text/tokenizer.h"
#include "hone/text/word_counts.h"

/// Learns a WordPiece vocabulary from texts.
///
/// Words start as letters, marked by "##" except for the first. The most frequent adjacent pair is joined to one piece
/// everywhere, until the vocabulary is full. (Byte pair encoding: Sennrich, Haddow and Birch, "Neural machine
/// translation of rare words with subword units", 2016; WordPieceTrainer in Hugging Face's `tokenizers` learns the same
/// way.) Among equally frequent pairs, the one whose pieces entered the vocabulary first is joined, so the result
/// depends only on the counts.
///
/// The vocabulary equals that of WordPieceTrainer wherever the latter is deterministic: there the order of a hash table
/// determines the ids of marked letters, and so the winners of ties. Here letters are sorted.
namespace hone {

struct WordPieceTrainerOptions {
  std::size_t vocab_size = 30'522;  ///< total number of tokens; default: that of BERT
  std::int64_t min_frequency = 2;   ///< rarer pairs are not joined
  /// Number of distinct letters to keep, the most frequent ones; the others are ignored.
  std::size_t limit_alphabet = 1000;
};

/// Returns the vocabulary in the order of ids: [PAD], [UNK], [CLS], [SEP], [MASK], the letters, the letters that
/// continue a word (both by code point), then the pieces in the order of learning. It is shorter than `vocab_size` if
/// no pairs are left, longer if the letters alone exceed it. `words` must be distinct.
std::vector<std::string> train_word_pieces(std::span<const CountedWord> words,
                                           const WordPieceTrainerOptions& options);

/// Returns a BERT tokenizer with this normalization and a vocabulary learned from the texts. Throws `UserError` if they
/// contain no words, or `vocab_size` is too small for their letters.
Tokenizer train_tokenizer(ThreadPool& pool, std::span<const std::string_view> texts,
                          const WordPieceTrainerOptions& options,
                          const Normalization& normalization = {});

/// Returns the share of words in the texts that change when marks are stripped after the other normalization: "é", "ぱ",
/// "की", "각".
double marked_word_share(ThreadPool& pool, std::span<const std::string_view> texts,
                         Normalization normalization);

}  // namespace hone
