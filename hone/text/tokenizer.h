#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/text/normalizer.h"
#include "hone/text/word_piece.h"
#include "hone/text/word_splitter.h"

/// BERT's tokenizer: text to ids, with the same ids as Hugging Face's fast tokenizer.
///
///     const Tokenizer tokenizer = load_tokenizer("bert-tiny");  // tokenizer_files.h
///     tokenizer.encode("A fine film.", 512);                     // [CLS] a fine film . [SEP]
namespace hone {

/// The names of the tokens with a meaning of their own.
struct SpecialTokens {
  std::string pad = "[PAD]";
  std::string unknown = "[UNK]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string mask = "[MASK]";
};

/// All that defines a tokenizer. The id of a token is its index.
struct TokenizerDefinition {
  std::vector<std::string> tokens = {};
  Normalization normalization = {};
  SpecialTokens special = {};
  /// Tokens beside the special ones that are recognised literally in the raw text.
  std::vector<std::string> added = {};
  WordPieceOptions word_piece = {};
};

/// What became of one text or pair.
struct Encoding {
  std::vector<std::int32_t> ids;    ///< [CLS], pieces, [SEP]; of a pair more pieces and [SEP]
  bool truncated = false;           ///< pieces were left out for `max_length`
  std::int64_t replaced_bytes = 0;  ///< ill-formed parts of UTF-8 that were read as U+FFFD
  /// Where the second text of a pair begins, whose tokens are of type 1; the size of `ids` for one
  /// text.
  std::int32_t second_begin = 0;
};

class Tokenizer {
 public:
  /// Throws `UserError`: a token twice, or no padding, unknown, [CLS] or [SEP] token among
  /// `tokens`. A mask token that is absent is ordinary text.
  explicit Tokenizer(TokenizerDefinition definition);

  /// The ids of `text` with [CLS] in front and [SEP] behind; of longer texts the first `max_length`
  /// - 2 pieces are kept. Throws `UserError` for a `max_length` below 2.
  std::vector<std::int32_t> encode(std::string_view text, std::size_t max_length) const;
  /// The same with the facts of the encoding.
  Encoding encode_with_facts(std::string_view text, std::size_t max_length) const;
  /// [CLS] first [SEP] second [SEP]. Pairs that are longer than `max_length` lose pieces at the end
  /// of the longer text until both are equally long, then of both: Hugging Face's `longest_first`.
  /// Throws `UserError` for a `max_length` below 3.
  Encoding encode_pair(std::string_view first, std::string_view second,
                       std::size_t max_length) const;

  /// The words of `text`, normalized, that the vocabulary cannot spell and that become the unknown token, in order.
  std::vector<std::string> unknown_words(std::string_view text) const;

  std::int32_t vocabulary_size() const {
    return static_cast<std::int32_t>(definition_.tokens.size());
  }
  /// The token of an id in [0, vocabulary_size()); throws `UserError` otherwise.
  const std::string& token(std::int32_t id) const;
  std::int32_t pad_id() const { return pad_id_; }
  std::int32_t unknown_id() const { return unknown_id_; }
  std::int32_t cls_id() const { return cls_id_; }
  std::int32_t sep_id() const { return sep_id_; }
  const TokenizerDefinition& definition() const { return definition_; }

 private:
  struct Run;      // a stretch of text without white space and added tokens
  struct Scratch;  // buffers of one call
  struct AddedToken {
    std::string text;
    std::int32_t id;
  };

  std::int32_t find_id(std::string_view token, std::string_view role) const;
  const AddedToken* added_at(std::string_view text) const;
  Run next_run(std::string_view text) const;
  void encode_pieces(std::string_view text, std::size_t limit, Scratch& scratch) const;

  TokenizerDefinition definition_;
  WordSplitter splitter_;
  WordPiece word_piece_;
  std::int32_t pad_id_, unknown_id_, cls_id_, sep_id_;
  std::vector<AddedToken> added_;         // longest first
  std::array<bool, 256> begins_added_{};  // first bytes of added tokens
};

}  // namespace hone
