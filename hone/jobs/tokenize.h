#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/token_view.h"
#include "hone/models/text_limit.h"
#include "hone/models/vocabulary.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which data is to be looked at as tokens, and by which tokenizer.
struct TokenizeJob {
  std::string model;                ///< whose tokenizer it is, as `open_model` takes it
  DataOptions data = {};            ///< labels are not looked at
  TextCut cut = {};                 ///< see `text_limit`
  std::int64_t batch_size = 32;     ///< for the share of padding
  std::int64_t texts = 2;           ///< first ones of each part to show with their tokens
  VocabularyRules vocabulary = {};  ///< of fresh weights
  std::uint64_t seed = 42;          ///< of what fresh weights would set aside
};

/// What one part of the data is as tokens.
struct TokenFacts {
  std::string part;
  std::int64_t texts = 0;
  std::int64_t tokens = 0;
  std::int64_t cut = 0;      ///< texts that were longer than the limit
  std::int64_t unknown = 0;  ///< unknown tokens
  std::int64_t median_tokens = 0, p90_tokens = 0, p99_tokens = 0,
               longest_tokens = 0;  ///< of a text
  double padding = 0;               ///< share of the places in batches, shuffled
  double grouped_padding = 0;       ///< the same, grouped by length
};

struct TokenizeResult {
  std::vector<TokenFacts> parts;
  std::vector<TokenView> views;
  std::int64_t vocab_size = 0;
  std::optional<std::int64_t> training_texts = {};  ///< that the vocabulary was learnt from
  Json fields = {};                                 ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text = {};
};

/// Reads a data set and tells what it is as tokens: of a model's tokenizer, or of the one that training a fresh model on it
/// would learn. Weights are not read. Throws `UserError`, as `load_data_set`, `find_model`, `load_tokenizer` and
/// `learn_vocabulary` do.
TokenizeResult tokenize_data(const TokenizeJob& job, Context& context);

}  // namespace hone
