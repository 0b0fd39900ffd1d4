#pragma once

#include <optional>
#include <span>
#include <string>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/data/encoded_set.h"
#include "hone/runtime/context.h"
#include "hone/text/tokenizer.h"

/// The vocabulary of fresh weights: that of the built-in data for these, for others one learned from the training part.
namespace hone {

struct LearnedVocabulary {
  Tokenizer tokenizer;
  std::int64_t texts = 0;  ///< that it was learned from
  /// Share of the words that have marks, where these were looked for to choose whether to keep them.
  std::optional<double> marked_share = {};
};

/// How a vocabulary is learned.
struct VocabularyRules {
  /// Most tokens; 0: 30,522, BERT's, and none are learned for built-in data.
  std::int64_t vocab_size = 0;
  std::optional<bool> lowercase = {};  ///< none: yes
  /// Whether marks are removed from letters; none: unless more than one word in a hundred has some,
  /// as words of such a language differ by them.
  std::optional<bool> strip_accents = {};
  /// Whether any of them is said.
  bool given() const { return vocab_size > 0 || lowercase || strip_accents; }
};

/// `--vocab_size` and what goes with it, of commands that make fresh weights for data.
Options options_of(const VocabularyRules*);

/// What fresh weights are to be made for.
struct VocabularyOptions {
  std::string model;  ///< as the command names it
  std::string data;   ///< the source of the training part
  VocabularyRules rules = {};
  fs::path interrupted =
      {};  ///< where an interrupted run lies that goes on with its own vocabulary; or empty
};

/// Whether fresh weights learn one: on data that is not built in, or when they are asked to, unless a tokenizer lies beside
/// their config.json. Throws `UserError` for rules given for a model that has its vocabulary.
bool learns_vocabulary(const VocabularyOptions& options);

/// The vocabulary learned from `train`; nothing where none is to be learned. Throws `UserError` as `train_tokenizer` does.
std::optional<LearnedVocabulary> learn_vocabulary(const VocabularyOptions& options,
                                                  std::span<const Example> train, Context& context);

/// "vocabulary of 8,192 word pieces learned from 18,000 training texts: 29.8 tokens a text"; `train` are these texts.
std::string vocabulary_text(const LearnedVocabulary& vocabulary, const EncodedSet& train);
/// The same in results.
struct LearnedVocabularyResult {
  std::int64_t vocab_size = 0;
  std::string source;
  std::int64_t training_texts = 0;
  double tokens_per_text = 0;
};
const Fields& fields_of(const LearnedVocabularyResult*);
LearnedVocabularyResult learned_vocabulary_result(const LearnedVocabulary& vocabulary,
                                                  const EncodedSet& train);

/// What such a warning says, whatever its figures.
inline constexpr const char* kSpelledWords = "the vocabulary does not know these words";

/// What such a warning says, whatever its numbers.
inline constexpr const char* kUnknownTokens = "tokens are unknown";

/// Says, with `name` in front, that more than one in twenty of `tokens`, and more than one alone, is
/// the unknown one, which tells a model nothing; else empty.
std::string unknown_warning(std::int64_t unknown, std::int64_t tokens, const std::string& name);
/// The same of encoded texts.
std::string unknown_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                            const std::string& name);

/// Says, with `name` in front, that the vocabulary cuts the words of these texts into more than two pieces each, so that
/// it is not one for them; else empty.
std::string spelling_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                             const std::string& name);

}  // namespace hone
