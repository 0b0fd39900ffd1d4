#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/data/data_facts.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/token_view.h"
#include "hone/models/text_limit.h"
#include "hone/models/vocabulary.h"
#include "hone/runtime/context.h"

namespace hone {

/// A dataset to tokenize, and the tokenizer to use.
struct TokenizeJob {
  std::string model;                ///< see `open_model`; only its tokenizer is used
  DataOptions data = {};            ///< labels that training would refuse are ignored
  TextCut cut = {};                 ///< see `text_limit`
  std::int64_t batch_size = 32;     ///< for the share of padding
  std::int64_t texts = 2;           ///< first examples of each split to show with their tokens
  VocabularyRules vocabulary = {};  ///< to learn for fresh weights
  std::uint64_t seed = 42;          ///< of the validation split that training would draw
  std::size_t columns = 0;  ///< width of the terminal, for the lines of tokens; 0: unlimited
};

/// Token counts of one split.
struct TokenFacts {
  std::string split;
  std::int64_t texts = 0;
  std::int64_t tokens = 0;
  std::int64_t median_tokens = 0, p90_tokens = 0, p99_tokens = 0,
               longest_tokens = 0;  ///< per text
  std::int64_t cut = 0;             ///< truncated texts
  std::int64_t unknown = 0;         ///< unknown tokens
  double padding = 0;               ///< share of padding in shuffled batches
  double grouped_padding = 0;       ///< the same in batches grouped by length

  double unknown_share() const {
    return static_cast<double>(unknown) / static_cast<double>(tokens);
  }
};
const Fields& fields_of(const TokenFacts*);

/// A vocabulary in results.
struct VocabularyResult {
  std::int64_t vocab_size = 0;
  std::string source = {};
  std::optional<std::int64_t> training_texts = {};
};
const Fields& fields_of(const VocabularyResult*);

/// The JSON result.
struct TokenizeFields {
  std::string model;
  DataResult data = {};
  VocabularyResult vocabulary = {};
  std::vector<TokenView> texts = {};
  std::vector<TokenFacts> splits = {};
  std::size_t max_seq_length = 0;
  std::string truncation = {};
  std::int64_t batch_size = 0;
  int threads = 0;
  double read_seconds = 0, tokenize_seconds = 0;
};
const Fields& fields_of(const TokenizeFields*);

struct TokenizeResult : JobResult {
  std::vector<TokenFacts> splits;
  std::vector<TokenView> views;
  std::int64_t vocab_size = 0;
  std::optional<std::int64_t> training_texts = {};  ///< from which the vocabulary was learned
};

/// Tokenizes a dataset with a model's tokenizer, or with the one that training a fresh model on it would learn. Reads
/// no weights. Throws `UserError` like `load_data_set`, `find_model`, `load_tokenizer` and `learn_vocabulary`.
TokenizeResult tokenize_data(const TokenizeJob& job, Context& context);

}  // namespace hone
