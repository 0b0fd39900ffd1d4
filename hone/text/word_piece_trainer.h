#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/text/tokenizer.h"
#include "hone/text/word_counts.h"

/// Learns a vocabulary of word pieces from texts.
///
/// Words begin as letters, all but the first marked by "##". The two neighbours that stand beside each other most often
/// are joined to one piece, wherever they do, and so on until the vocabulary is full. (Byte pair encoding: Sennrich,
/// Haddow and Birch, "Neural machine translation of rare words with subword units", 2016; so WordPieceTrainer of Hugging
/// Face's `tokenizers` learns too.) Of pairs as frequent as each other the one whose pieces came first into the
/// vocabulary is joined, so the answer depends on nothing but the counts.
///
/// The vocabulary is that of WordPieceTrainer wherever that is defined: there the marked letters get their ids, and with
/// them ties their winner, in the order of a hash table. Here they are sorted.
namespace hone {

struct WordPieceTrainerOptions {
  std::size_t vocab_size = 30'522;  ///< tokens to end with, of all kinds; that of BERT
  std::int64_t min_frequency = 2;   ///< what is seen less often is not joined
  /// Different letters to keep, the most frequent ones; the others are as if they were not there.
  std::size_t limit_alphabet = 1000;
};

/// The vocabulary in the order of its ids: [PAD], [UNK], [CLS], [SEP], [MASK], the letters, the letters that continue a
/// word (both by code point), then the pieces in the order in which they were learned. Shorter than `vocab_size` when
/// nothing is left to join, longer when the letters alone are more. `words` must differ from one another.
std::vector<std::string> train_word_pieces(std::span<const CountedWord> words,
                                           const WordPieceTrainerOptions& options);

/// A tokenizer of BERT's kind with this normalization and the vocabulary of these texts. Throws
/// `UserError` when there are no words in them, and when `vocab_size` has no room for their letters.
Tokenizer train_tokenizer(ThreadPool& pool, std::span<const std::string_view> texts,
                          const WordPieceTrainerOptions& options,
                          const Normalization& normalization = {});

/// The share of the words of these texts, normalized but for marks, that are others without their
/// marks: "é", "ぱ", "की", "각".
double marked_word_share(ThreadPool& pool, std::span<const std::string_view> texts,
                         Normalization normalization);

}  // namespace hone
