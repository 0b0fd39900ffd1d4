#include "hone/data/synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kSigns[] = {"negative", "positive"};
constexpr std::string_view kOrders[] = {"less", "greater"};
constexpr std::string_view kScore[] = {"score"};
constexpr std::string_view kTopicNames[kTopics] = {"music", "sport", "food", "travel", "money"};

constexpr Generator kGenerators[] = {
    {"negation", "reviews with negators, modifiers and \"but\"; sign of the score",
     Task::single_label, kSigns, make_negation},
    {"tail", "words worth 1, 3 or, rarely, 15; sign of the sum", Task::single_label, kSigns,
     make_tail},
    {"compare", "two numbers among fillers; is the first greater?", Task::single_label, kOrders,
     make_compare},
    {"lookup", "facts about entities; polarity of the one asked for", Task::single_label, kSigns,
     make_lookup},
    {"score", "words worth -3 to 3; a number from 0 to 5", Task::regression, kScore, make_score},
    {"topics", "words of any number of 5 topics; which ones", Task::multi_label, kTopicNames,
     make_topics},
};

constexpr std::int64_t kMaxExamples = 10'000'000;

const Generator* find_generator(std::string_view name) {
  std::vector<std::string> names;
  for (const Generator& generator : kGenerators) {
    if (generator.name == name) return &generator;
    names.emplace_back(generator.name);
  }
  fail("synth:{}: no such generator; expected one of: {}{}", name, fmt::join(names, ", "),
       did_you_mean(name, names));
}

template <typename Integer>
Integer parse_number(std::string_view parameter, std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  user_check(error == std::errc() && end == text.data() + text.size(),
             "synth: {}: expected a whole number, got '{}'", parameter, text);
  return value;
}

void set_parameter(SyntheticOptions& options, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  const std::vector<std::string> names = {"seed", "n", "test"};
  user_check(std::find(names.begin(), names.end(), name) != names.end(),
             "synth: unknown parameter '{}'; expected seed=NUMBER, n=COUNT or test=COUNT{}", name,
             did_you_mean(name, names));
  user_check(equals != std::string_view::npos,
             "synth: parameter '{0}' has no value; write {0}=NUMBER", name);
  const std::string_view value = assignment.substr(equals + 1);
  if (name == "seed") {
    options.seed = parse_number<std::uint64_t>(name, value);
  } else {
    const auto count = parse_number<std::int64_t>(name, value);
    user_check(count >= 1 && count <= kMaxExamples, "synth: {}: expected 1 to {}, got {}", name,
               kMaxExamples, count);
    if (name == "n") {
      options.train_count = count;
    } else {
      options.test_count = count;
    }
  }
}

std::vector<Example> make_examples(const SyntheticOptions& options, const Lexicon& lexicon,
                                   std::string_view part, std::int64_t count) {
  RandomSequence random(options.seed,
                        stream_of(fmt::format("{}/{}", options.generator->name, part)));
  std::vector<Example> examples;
  for (std::int64_t i = 0; i < count; ++i)
    examples.push_back(options.generator->make(lexicon, random));
  return examples;
}

}  // namespace

std::span<const Generator> generators() { return kGenerators; }

SyntheticOptions parse_synthetic(std::string_view source) {
  HONE_ASSERT(source.starts_with(kSyntheticPrefix), "'{}' has no prefix {}", source,
              kSyntheticPrefix);
  source.remove_prefix(kSyntheticPrefix.size());
  const std::size_t question = source.find('?');
  SyntheticOptions options;
  options.generator = find_generator(source.substr(0, question));
  if (question == std::string_view::npos) return options;
  for (const std::string& assignment : split(source.substr(question + 1), '&'))
    set_parameter(options, assignment);
  return options;
}

DataSet make_synthetic(const SyntheticOptions& options) {
  const Lexicon lexicon = make_lexicon();
  const std::int64_t test_count =
      options.test_count.value_or(std::max<std::int64_t>(500, options.train_count / 5));
  DataSet data;
  data.train = make_examples(options, lexicon, "train", options.train_count);
  data.test = make_examples(options, lexicon, "test", test_count);
  data.task = options.generator->task;
  for (const std::string_view name : options.generator->label_names)
    data.label_names.emplace_back(name);
  data.description = fmt::format("{}{}?seed={}&n={}{}: {} train, {} test", kSyntheticPrefix,
                                 options.generator->name, options.seed, options.train_count,
                                 options.test_count ? fmt::format("&test={}", test_count) : "",
                                 options.train_count, test_count);
  return data;
}

}  // namespace hone
