#pragma once

#include <optional>
#include <span>
#include <string>

#include "hone/base/json.h"
#include "hone/data/encoded_set.h"
#include "hone/runtime/context.h"
#include "hone/text/tokenizer.h"

/// The vocabulary of fresh weights: that of the built-in data for these, for others one learnt from the training part.
namespace hone {

struct LearntVocabulary {
  Tokenizer tokenizer;
  std::int64_t texts = 0;  ///< that it was learnt from
};

/// What fresh weights are to be made for.
struct VocabularyOptions {
  std::string model;  ///< as the command names it
  std::string data;   ///< the source of the training part
  std::int64_t vocab_size =
      0;  ///< most tokens; 0: 30 522, BERT's, and none are learnt for built-in data
  fs::path interrupted =
      {};  ///< where an interrupted run lies that goes on with its own vocabulary; or empty
};

/// Whether fresh weights learn one: on data that is not built in, or when they are asked to, unless a tokenizer lies beside
/// their config.json. Throws `UserError` for a `vocab_size` given for a model that has its vocabulary.
bool learns_vocabulary(const VocabularyOptions& options);

/// The vocabulary learnt from `train`; nothing where none is to be learnt. Throws `UserError` as `train_tokenizer` does.
std::optional<LearntVocabulary> learn_vocabulary(const VocabularyOptions& options,
                                                 std::span<const Example> train, Context& context);

/// "vocabulary of 8 192 word pieces learnt from 18 000 training texts: 29.8 tokens a text"; `train` are these texts.
std::string vocabulary_text(const LearntVocabulary& vocabulary, const EncodedSet& train);
/// The same for programs: vocab_size, source, training_texts, tokens_per_text.
Json to_json(const LearntVocabulary& vocabulary, const EncodedSet& train);

/// What such a warning says, whatever its figures.
inline constexpr const char* kSpelledWords = "the vocabulary does not know these words";

/// Says, with `name` in front, that the vocabulary cuts the words of these texts into more than two pieces each, so that
/// it is not one for them; else empty.
std::string spelling_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                             const std::string& name);

}  // namespace hone
