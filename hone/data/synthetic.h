#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hone/data/data_set.h"
#include "hone/data/synthetic_words.h"

/// Built-in data: labelled texts in the language of hone/data/synthetic_words.h, each set made to
/// test something else.
namespace hone {

inline constexpr std::string_view kSyntheticPrefix = "synth:";

/// One data set's way of making an example. `lexicon` is that of `make_lexicon`.
struct Generator {
  std::string_view name;
  std::string_view summary;  ///< what the text and the label are, on one line
  Task task;
  std::span<const std::string_view> label_names;
  Example (*make)(const Lexicon& lexicon, RandomSequence& random);
};

/// All generators, the default one first.
std::span<const Generator> generators();

/// Reviews of 3 to 7 clauses with graded polarity words; the label is the sign of the score that
/// negators, modifiers and "but" leave of them, by `negation_score`. Its magnitude is at least
/// 0.75.
Example make_negation(const Lexicon& lexicon, RandomSequence& random);
/// Bags of words worth 1, 3 or, rarely, 15; the label is the sign of the sum.
Example make_tail(const Lexicon& lexicon, RandomSequence& random);
/// Two numbers from 0 to 99 among fillers; the label is whether the first is greater. They differ
/// by little.
Example make_compare(const Lexicon& lexicon, RandomSequence& random);
/// A query entity, then 6 to 16 facts about different entities; the label is the polarity of the
/// query's fact.
Example make_lookup(const Lexicon& lexicon, RandomSequence& random);

/// 6 to 16 words, some worth from -3 to 3; the number is 5 times the logistic function of a third of their sum, with
/// noise of standard deviation 0.25, from 0 to 5 in steps of 0.01.
Example make_score(const Lexicon& lexicon, RandomSequence& random);
inline constexpr std::size_t kTopics = 5;
/// 6 to 16 fillers and, of each of `kTopics` topics in three of ten texts, 1 to 3 of its 8 words. The labels are the
/// topics: topic t has the words from 8t on of `Lexicon::entities`.
Example make_topics(const Lexicon& lexicon, RandomSequence& random);

/// What `synth:NAME?seed=S&n=COUNT&test=COUNT` asks for.
struct SyntheticOptions {
  const Generator* generator = nullptr;
  std::uint64_t seed = 7;
  std::int64_t train_count = 30000;
  std::optional<std::int64_t> test_count = {};  // max(500, train_count / 5) unless it is said
};

/// Throws `UserError` for unknown names and parameters, with the nearest known one.
SyntheticOptions parse_synthetic(std::string_view source);

/// The training and the test examples, from independent streams of the seed. A smaller set is the beginning of a
/// greater one.
DataSet make_synthetic(const SyntheticOptions& options);

}  // namespace hone
