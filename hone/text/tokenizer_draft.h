#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/json_members.h"
#include "hone/text/tokenizer.h"

namespace hone {

/// A tokenizer while its files are read, one after the other.
struct TokenizerDraft {
  /// Without `tokens` and `framing`.
  TokenizerDefinition definition = {};
  /// Tokens with their ids in any order, some twice, until all are known.
  struct NumberedToken {
    std::int64_t id;
    std::string token;
  };
  std::vector<NumberedToken> tokens = {};
  /// As a file describes it; else it is that of BERT or of RoBERTa, by the model, with these tokens.
  std::optional<Framing> framing = {};
  std::string cls = "[CLS]", sep = "[SEP]";
  /// Recognised in raw text if they are among the tokens, as are special ones; with rules that a
  /// file gives, or with the plain ones.
  std::vector<AddedToken> ruled = {};
  std::vector<std::string> literal = {};
  /// Of each merge its line in merges.txt; empty where they stand in tokenizer.json.
  std::vector<std::size_t> merge_lines = {};

  bool is_byte_pair() const { return std::holds_alternative<BytePairModel>(definition.model); }
  /// Makes it a `BytePairModel` with the special tokens of RoBERTa.
  BytePairModel& become_byte_pair();

  /// Adds a token. Throws `UserError` for an id that is none.
  void add_token(const Members& id, const std::string& token);
  /// Adds a token that is recognised in raw text, described as Hugging Face does, unless there is
  /// one of this text. Throws `UserError` for rules that are not supported.
  void add_added_token(const Members& description, const Members& id);
  /// Takes the rules for a special token from such a description, if it is one.
  void add_rules(const Members& description);
};

/// The whole of it. Throws `UserError` unless every id has one token.
TokenizerDefinition finish(TokenizerDraft draft);

}  // namespace hone
