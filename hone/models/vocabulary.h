#pragma once

#include <optional>
#include <span>
#include <string>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/data/encoded_set.h"
#include "hone/runtime/context.h"
#include "hone/text/tokenizer.h"

/// The vocabulary of new models: fixed for the built-in datasets, otherwise learned from the training split.
namespace hone {

struct LearnedVocabulary {
  Tokenizer tokenizer;
  std::int64_t texts = 0;  ///< number of texts that it was learned from
  /// The share of words with diacritics, if it was computed to decide whether to keep them.
  std::optional<double> marked_share = {};
};

/// Options for learning a vocabulary.
struct VocabularyRules {
  /// The maximum number of tokens. 0: 30,522 as in BERT, and built-in datasets learn none.
  std::int64_t vocab_size = 0;
  std::optional<bool> lowercase = {};  ///< empty: yes
  /// Whether to strip diacritics from letters. Empty: strips them unless more than 1% of the words have some, because
  /// words of such a language differ by them.
  std::optional<bool> strip_accents = {};
  /// Returns whether any option is set.
  bool given() const { return vocab_size > 0 || lowercase || strip_accents; }
};

/// The options `--vocab_size` and others, for commands that make new models for a dataset.
Options options_of(const VocabularyRules*);

/// The model and data that need a vocabulary.
struct VocabularyOptions {
  std::string model;  ///< name given on the command line
  std::string data;   ///< source of the training split
  VocabularyRules rules = {};
  fs::path interrupted = {};  ///< folder of an interrupted run whose vocabulary is reused; or empty
};

/// Returns whether a new model learns a vocabulary: on datasets that are not built in, or if options ask for it, unless
/// its config.json has a tokenizer in its folder. Throws `UserError` if options are given for a model with a
/// vocabulary.
bool learns_vocabulary(const VocabularyOptions& options);

/// Returns the vocabulary learned from `train`, or nothing if none is needed. Throws `UserError` like
/// `train_tokenizer`.
std::optional<LearnedVocabulary> learn_vocabulary(const VocabularyOptions& options,
                                                  std::span<const Example> train, Context& context);

/// "vocabulary of 8,192 word pieces learned from 18,000 training texts: 29.8 tokens a text"; `train` are these texts.
std::string vocabulary_text(const LearnedVocabulary& vocabulary, const EncodedSet& train);
struct LearnedVocabularyResult {
  std::int64_t vocab_size = 0;
  std::string source;
  std::int64_t training_texts = 0;
  double tokens_per_text = 0;
};
const Fields& fields_of(const LearnedVocabularyResult*);
LearnedVocabularyResult learned_vocabulary_result(const LearnedVocabulary& vocabulary,
                                                  const EncodedSet& train);

/// The part of this warning without numbers.
inline constexpr const char* kUnknownWords = "the vocabulary does not contain these words";

/// The part of this warning without numbers.
inline constexpr const char* kUnknownTokens = "tokens are unknown";

/// Returns a warning, starting with `name`, if more than one in twenty of `tokens`, and more than a single one, is the
/// unknown token, which carries no information; otherwise empty.
std::string unknown_warning(std::int64_t unknown, std::int64_t tokens, const std::string& name);
/// The same for encoded texts.
std::string unknown_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                            const std::string& name);

/// Returns a warning, starting with `name`, if the vocabulary splits the words of these texts into more than two pieces
/// on average, and so does not fit them; otherwise empty.
std::string spelling_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                             const std::string& name);

}  // namespace hone
