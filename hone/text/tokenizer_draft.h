#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/json_members.h"
#include "hone/text/tokenizer.h"

namespace hone {

/// A tokenizer under construction while its files are read.
struct TokenizerDraft {
  /// Excludes `tokens`, `framing` and `added`.
  TokenizerDefinition definition = {};
  /// Tokens with their ids in any order, with possible duplicates, until all are known.
  struct NumberedToken {
    std::int64_t id;
    std::string token;
  };
  std::vector<NumberedToken> tokens = {};
  /// The framing in a file; unset: that of BERT or RoBERTa, depending on the model, with these tokens.
  std::optional<Framing> framing = {};
  std::string cls = "[CLS]", sep = "[SEP]";
  /// A token as it is described in a file.
  struct DescribedToken {
    AddedToken token;
    bool special = false;
    std::optional<NumberedToken> numbered = {};  ///< set if the file has its id
  };
  std::vector<DescribedToken> added =
      {};  ///< tokens that are matched literally, without duplicates
  /// The special tokens that a file names, with their own rules if it has any. They are matched literally if they are
  /// among the tokens.
  std::vector<DescribedToken> special = {};
  /// Other special tokens that a file lists; those that are not among the tokens get the next ids.
  std::vector<DescribedToken> extra_special = {};
  bool types_pairs = true;  ///< false: all tokens of a pair have type 0
  /// The line of each merge in merges.txt; empty if merges are in tokenizer.json.
  std::vector<std::size_t> merge_lines = {};

  bool is_byte_pair() const { return std::holds_alternative<BytePairModel>(definition.model); }
  /// Turns the model into a `BytePairModel` with the special tokens of RoBERTa.
  BytePairModel& become_byte_pair();

  /// Adds a token. Throws `UserError` for an invalid id.
  void add_token(const Members& id, const std::string& token);
  /// Adds a token that is matched literally; replaces the one with the same text.
  void describe(DescribedToken token);
  /// The same unless a token with this text exists.
  void describe_if_new(DescribedToken token);
};

/// Reads a token in the form of Hugging Face's files: a text or an object. `special` is the default if the object does
/// not have it. Throws `UserError` for anything else.
TokenizerDraft::DescribedToken described_token(const Members& description, bool special);
/// Reads a token and its id. Throws `UserError` for an invalid id.
TokenizerDraft::NumberedToken numbered_token(const Members& id, const std::string& token);

/// Completes the definition. Throws `UserError` unless every id has one token.
TokenizerDefinition finish(TokenizerDraft draft);

}  // namespace hone
