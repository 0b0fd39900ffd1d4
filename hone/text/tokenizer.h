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

/// Tokenizers of the BERT and RoBERTa families, with the same ids as Hugging Face's fast tokenizers.
///
///     const Tokenizer tokenizer = load_tokenizer("bert-tiny");  // tokenizer_files.h
///     tokenizer.encode("A fine film.", 512);                     // [CLS] a fine film . [SEP]
namespace hone {

/// Names of special tokens.
struct SpecialTokens {
  std::string pad = "[PAD]";
  std::string unknown = "[UNK]";
  std::string mask = "[MASK]";
};

/// The special tokens around texts: front, text, trailing; for a pair: front, first, between, second, trailing.
struct Framing {
  std::vector<std::string> front = {"[CLS]"}, between = {"[SEP]"}, trailing = {"[SEP]"};
  /// Whether the second text and the tokens after it have type 1; all others have type 0.
  bool second_is_type_1 = true;
  friend bool operator==(const Framing&, const Framing&) = default;
};

/// Defines a tokenizer. The id of a token is its index.
struct TokenizerDefinition {
  /// An empty string is an id without a token, which no text contains.
  std::vector<std::string> tokens = {};
  /// Encodes text between added tokens.
  std::variant<WordPieceModel, BytePairModel> model = {};
  SpecialTokens special = {};
  Framing framing = {};
  /// Tokens that are matched literally in texts, if they are not special or their rules differ from the default ones.
  std::vector<AddedToken> added = {};
  /// The pieces to keep of texts that are too long.
  Truncation truncation = Truncation::head;
};

/// The result of encoding a text or pair.
struct Encoding {
  std::vector<std::int32_t> ids;    ///< pieces with their framing
  bool truncated = false;           ///< pieces were dropped because of `max_length`
  std::int64_t replaced_bytes = 0;  ///< ill-formed UTF-8 sequences that were read as U+FFFD
  /// Index of the first token of type 1; the size of `ids` if all have type 0.
  std::int32_t type_1_begin = 0;
};

class Tokenizer {
 public:
  /// Throws `UserError` for a duplicate token, an added token whose normalized form is empty, and if `tokens` lacks the
  /// padding token, a token of the framing, an added token or one that the model needs (for word pieces, the unknown
  /// token). A mask token that is absent is ordinary text; so is an unknown token that the model does not need.
  explicit Tokenizer(TokenizerDefinition definition);

  /// Returns the ids of `text` with the framing. Longer texts are cut to `max_length` ids; `truncation`, or else the
  /// definition, says which pieces are kept. Throws `UserError` for a `max_length` below the number of
  /// `framing_tokens`.
  std::vector<std::int32_t> encode(std::string_view text, std::size_t max_length,
                                   std::optional<Truncation> truncation = {}) const;
  /// The same with details about the encoding.
  Encoding encode_text(std::string_view text, std::size_t max_length,
                       std::optional<Truncation> truncation = {}) const;
  /// The same for two texts. Pairs longer than `max_length` lose pieces of the longer text until both are equally long,
  /// then of both: Hugging Face's `longest_first`. Each text is cut separately.
  Encoding encode_pair(std::string_view first, std::string_view second, std::size_t max_length,
                       std::optional<Truncation> truncation = {}) const;

  /// Returns the normalized words of `text` that the vocabulary cannot represent and that become the unknown token, in
  /// order.
  std::vector<std::string> unknown_words(std::string_view text) const;

  std::int32_t vocabulary_size() const {
    return static_cast<std::int32_t>(definition_.tokens.size());
  }
  /// Returns the token with an id in [0, vocabulary_size()) as it is in the vocabulary; throws `UserError` for other
  /// ids.
  const std::string& token(std::int32_t id) const;
  /// Returns the token in readable form; byte-level tokens as text: "␣film" for "Ġfilm".
  std::string shown_token(std::int32_t id) const;
  /// Returns whether a token continues a word.
  bool continues_word(std::int32_t id) const;
  std::int32_t pad_id() const { return pad_id_; }
  /// Returns -1 if there is none.
  std::int32_t unknown_id() const { return unknown_id_; }
  /// Returns the special tokens around a text, or around and between the texts of a pair, in order.
  std::vector<std::string> framing_tokens(bool pair) const;
  const TokenizerDefinition& definition() const { return definition_; }

 private:
  using Ids = std::vector<std::int32_t>;

  std::int32_t find_id(std::string_view token) const;
  std::int32_t required_id(std::string_view token, std::string_view role) const;
  Ids required_ids(const std::vector<std::string>& tokens) const;
  void collect_added();
  template <typename Use>
  std::int64_t split(std::string_view text, const Use& use) const;
  std::int64_t encode_pieces(std::string_view text, std::size_t limit, Ids& ids) const;

  TokenizerDefinition definition_;
  PieceTable ids_;  // ids of tokens
  std::int32_t pad_id_, unknown_id_;
  Ids front_, between_, trailing_;
  std::variant<WordPieceEncoder, BytePairEncoder> encoder_;
  AddedTokens added_, normalized_added_;  // matched in raw and in normalized text
  std::vector<char> is_added_;            // by id
};

}  // namespace hone
