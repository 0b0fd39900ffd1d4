#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/text/added_tokens.h"
#include "hone/text/byte_pair_encoder.h"
#include "hone/text/piece_table.h"
#include "hone/text/truncation.h"
#include "hone/text/word_piece_encoder.h"

/// Tokenizers of the BERT family: text to ids, with the same ids as Hugging Face's fast tokenizers.
///
///     const Tokenizer tokenizer = load_tokenizer("bert-tiny");  // tokenizer_files.h
///     tokenizer.encode("A fine film.", 512);                     // [CLS] a fine film . [SEP]
namespace hone {

/// The names of the tokens with a meaning of their own.
struct SpecialTokens {
  std::string pad = "[PAD]";
  std::string unknown = "[UNK]";
  std::string mask = "[MASK]";
};

/// The special tokens around texts: front, text, behind; of a pair front, first, between, second,
/// behind.
struct Framing {
  std::vector<std::string> front = {"[CLS]"}, between = {"[SEP]"}, behind = {"[SEP]"};
  /// Whether the second text and what is behind it are of type 1; all else is of type 0.
  bool second_is_type_1 = true;
  friend bool operator==(const Framing&, const Framing&) = default;
};

/// All that defines a tokenizer. The id of a token is its index.
struct TokenizerDefinition {
  /// Empty: an id without a token, which no text has.
  std::vector<std::string> tokens = {};
  /// How text between added tokens becomes ids.
  std::variant<WordPieceModel, BytePairModel> model = {};
  SpecialTokens special = {};
  Framing framing = {};
  /// Tokens that are split off texts literally: those beside the special ones, and special ones
  /// whose rules are others than the plain ones.
  std::vector<AddedToken> added = {};
  /// Which pieces of texts that are too long are kept.
  Truncation truncation = Truncation::head;
};

/// What became of one text or pair.
struct Encoding {
  std::vector<std::int32_t> ids;    ///< pieces in their framing
  bool truncated = false;           ///< pieces were left out for `max_length`
  std::int64_t replaced_bytes = 0;  ///< ill-formed parts of UTF-8 that were read as U+FFFD
  /// Where the tokens of type 1 begin; the size of `ids` where all are of type 0.
  std::int32_t type_1_begin = 0;
};

class Tokenizer {
 public:
  /// Throws `UserError`: a token twice, or no padding token, token of the framing or added one among
  /// `tokens`, or what the model misses there, for word pieces the unknown token, or an added token
  /// whose normalized form is empty. A mask token that is absent is ordinary text, as is an unknown
  /// one that the model does not need.
  explicit Tokenizer(TokenizerDefinition definition);

  /// The ids of `text` in the framing; of longer texts so many pieces are kept that there are `max_length` ids, those that
  /// `truncation` says, or else the definition. Throws `UserError` for a `max_length` below the number of `framing_tokens`.
  std::vector<std::int32_t> encode(std::string_view text, std::size_t max_length,
                                   std::optional<Truncation> truncation = {}) const;
  /// The same with the facts of the encoding.
  Encoding encode_with_facts(std::string_view text, std::size_t max_length,
                             std::optional<Truncation> truncation = {}) const;
  /// The same of two texts. Pairs that are longer than `max_length` lose pieces of the longer text
  /// until both are equally long, then of both: Hugging Face's `longest_first`. Each is cut by itself.
  Encoding encode_pair(std::string_view first, std::string_view second, std::size_t max_length,
                       std::optional<Truncation> truncation = {}) const;

  /// The words of `text`, normalized, that the vocabulary cannot spell and that become the unknown
  /// token, in order.
  std::vector<std::string> unknown_words(std::string_view text) const;

  std::int32_t vocabulary_size() const {
    return static_cast<std::int32_t>(definition_.tokens.size());
  }
  /// The token of an id in [0, vocabulary_size()), as it stands in the vocabulary; throws
  /// `UserError` otherwise.
  const std::string& token(std::int32_t id) const;
  /// The same as people read it: of bytes the text they spell, "␣film" of "Ġfilm".
  std::string shown_token(std::int32_t id) const;
  /// Whether the token of an id goes on with a word that began before it.
  bool continues_word(std::int32_t id) const;
  std::int32_t pad_id() const { return pad_id_; }
  /// -1 where there is none.
  std::int32_t unknown_id() const { return unknown_id_; }
  /// The special tokens around a text, or around and between two of a pair, in order.
  std::vector<std::string> framing_tokens(bool pair) const;
  const TokenizerDefinition& definition() const { return definition_; }

 private:
  using Ids = std::vector<std::int32_t>;

  std::int32_t find_id(std::string_view token) const;
  std::int32_t needed_id(std::string_view token, std::string_view role) const;
  Ids needed_ids(const std::vector<std::string>& tokens) const;
  void collect_added();
  template <typename Use>
  std::int64_t split(std::string_view text, const Use& use) const;
  std::int64_t encode_pieces(std::string_view text, std::size_t limit, Ids& ids) const;

  TokenizerDefinition definition_;
  PieceTable ids_;  // of tokens
  std::int32_t pad_id_, unknown_id_;
  Ids front_, between_, behind_;
  std::variant<WordPieceEncoder, BytePairEncoder> encoder_;
  AddedTokens added_, normalized_added_;  // looked for in raw and in normalized text
  std::vector<char> is_added_;            // by id
};

}  // namespace hone
