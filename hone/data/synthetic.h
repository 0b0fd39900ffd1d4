#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hone/data/data_set.h"
#include "hone/data/synthetic_words.h"

/// Built-in data: labelled texts in the language of hone/data/synthetic_words.h. Each generator tests a different
/// ability.
namespace hone {

inline constexpr std::string_view kSyntheticPrefix = "synth:";

/// A generator of examples. `lexicon` is that of `make_lexicon`.
struct Generator {
  std::string_view name;
  std::string_view summary;  ///< one line about text and label
  Task task;
  std::span<const std::string_view> label_names;
  Example (*make)(const Lexicon& lexicon, RandomSequence& random);
};

/// Returns all generators, the default first.
std::span<const Generator> generators();

/// Makes a review of 3 to 7 clauses with graded polarity words. The label is the sign of the score after negators,
/// modifiers and "but". Its magnitude is at least 0.75.
Example make_negation(const Lexicon& lexicon, RandomSequence& random);
/// Makes a bag of words worth ±1, ±3 or, rarely, ±15. The label is the sign of the sum.
Example make_tail(const Lexicon& lexicon, RandomSequence& random);
/// Places two numbers from 0 to 99 among fillers. The label says whether the first is greater. Their difference is
/// usually small.
Example make_compare(const Lexicon& lexicon, RandomSequence& random);
/// Makes a query entity, then 6 to 16 facts about different entities. The label is the polarity of the query's fact.
Example make_lookup(const Lexicon& lexicon, RandomSequence& random);

/// Makes 6 to 16 words, some worth from -3 to 3. The target is 5 times the logistic function of a third of their sum,
/// with noise of standard deviation 0.25, from 0 to 5 in steps of 0.01.
Example make_score(const Lexicon& lexicon, RandomSequence& random);
inline constexpr std::size_t kTopics = 5;
/// Makes 6 to 16 fillers. Each of `kTopics` topics occurs with probability 0.3, with 1 to 3 of its 8 words. The labels
/// are the topics: topic t has the words from 8t on in `Lexicon::entities`.
Example make_topics(const Lexicon& lexicon, RandomSequence& random);

/// The options in `synth:NAME?seed=S&n=COUNT&test=COUNT`.
struct SyntheticOptions {
  const Generator* generator = nullptr;
  std::uint64_t seed = 7;
  std::int64_t train_count = 30000;
  std::optional<std::int64_t> test_count = {};  // unset: max(500, train_count / 5)
};

/// Parses a source. Throws `UserError` for unknown names and parameters, with the nearest known one.
SyntheticOptions parse_synthetic(std::string_view source);

/// Makes training and test examples from independent streams of the seed. A smaller set is a prefix of a larger one.
DataSet make_synthetic(const SyntheticOptions& options);

}  // namespace hone
