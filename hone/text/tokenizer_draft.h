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
  /// Without `tokens`, `framing` and `added`.
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
  /// A token as a file describes it.
  struct DescribedToken {
    AddedToken token;
    bool special = false;
    std::optional<NumberedToken> numbered = {};  ///< where the file says its id
  };
  std::vector<DescribedToken> added = {};  ///< tokens that are split off texts, each once
  /// The special tokens that a file names, with rules of their own where it describes them: split
  /// off texts if they are among the tokens.
  std::vector<DescribedToken> special = {};
  /// The others that a file lists: those that are not among the tokens follow behind them.
  std::vector<DescribedToken> extra_special = {};
  bool types_pairs = true;  ///< false: all tokens of a pair are of type 0
  /// Of each merge its line in merges.txt; empty where they are in tokenizer.json.
  std::vector<std::size_t> merge_lines = {};

  bool is_byte_pair() const { return std::holds_alternative<BytePairModel>(definition.model); }
  /// Makes it a `BytePairModel` with the special tokens of RoBERTa.
  BytePairModel& become_byte_pair();

  /// Adds a token. Throws `UserError` for an id that is not valid.
  void add_token(const Members& id, const std::string& token);
  /// Adds a token that is split off texts, in the place of the one with the same text.
  void describe(DescribedToken token);
  /// The same unless there is one with this text.
  void describe_if_new(DescribedToken token);
};

/// A token as Hugging Face's files describe it: a text or an object. `special`: what it is where the
/// object does not say so. Throws `UserError` for anything else.
TokenizerDraft::DescribedToken described_token(const Members& description, bool special);
/// A token and its id. Throws `UserError` for an id that is not valid.
TokenizerDraft::NumberedToken numbered_token(const Members& id, const std::string& token);

/// The whole of it. Throws `UserError` unless every id has one token.
TokenizerDefinition finish(TokenizerDraft draft);

}  // namespace hone
