#include "hone/app/data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/base/random.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Moves `count` of the training examples, chosen by seed, to the validation part.
void set_aside(DataSet& data, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(data.train.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomSequence(seed, stream_of("validation split")).shuffle(order);
  std::vector<char> chosen(data.train.size(), 0);
  for (std::size_t i = 0; i < count; ++i) chosen[order[i]] = 1;
  std::vector<Example> train;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    (chosen[i] != 0 ? data.validation : train).push_back(std::move(data.train[i]));
  }
  data.train = std::move(train);
}

std::string count_text(std::size_t count) { return grouped(static_cast<long long>(count)); }

}  // namespace

Protocol parse_protocol(const std::string& text) {
  if (text == "honest") return Protocol::honest;
  if (text == "original") return Protocol::original;
  const std::string known[] = {"honest", "original"};
  fail("--protocol: expected honest or original, got '{}'{}", text, did_you_mean(text, known));
}

std::string to_string(Protocol protocol) {
  return protocol == Protocol::honest ? "honest" : "original";
}

Splits split(DataSet data, const SplitOptions& options) {
  user_check(options.validation_split >= 0 && options.validation_split < 1,
             "--validation_split: expected a share of at least 0 and below 1, got {}",
             options.validation_split);
  Splits splits{.source = std::move(data), .protocol = options.protocol};
  DataSet& source = splits.source;
  if (options.protocol == Protocol::original) {
    user_check(!source.test.empty(),
               "--protocol original chooses on the test part, which the data does not have ({}); "
               "give data with a test part, or use --protocol honest",
               source.description);
    source.validation = source.test;
    splits.validation_source = "the test part: choices are made on it";
  } else if (!source.validation.empty()) {
    splits.validation_source =
        fmt::format("{} texts of the data's own part", count_text(source.validation.size()));
  } else {
    const std::size_t all = source.train.size();
    const auto count =
        static_cast<std::size_t>(std::llround(options.validation_split * static_cast<double>(all)));
    if (count == 0) return splits;
    set_aside(source, count, options.seed);
    splits.validation_source = fmt::format("{} of {} training texts, set aside by seed {}",
                                           count_text(count), count_text(all), options.seed);
  }
  return splits;
}

const std::vector<Example>& part(const Splits& splits, const std::string& name) {
  const DataSet& source = splits.source;
  const std::pair<std::string_view, const std::vector<Example>*> parts[] = {
      {"test", &source.test}, {"validation", &source.validation}, {"train", &source.train}};
  for (const auto& [part_name, examples] : parts) {
    if (name.empty() ? examples->empty() : part_name != name) continue;
    user_check(!examples->empty(), "{}: the {} split is empty", source.description, name);
    return *examples;
  }
  user_check(name.empty(), "--split: expected train, validation or test, got '{}'", name);
  fail("{}: there are no examples", source.description);
}

EncodedSet encode_part(const TextModel& source, const std::vector<Example>& examples,
                       const std::string& name, std::int64_t max_seq_length, Context& context,
                       std::vector<std::string>& warnings) {
  const std::size_t limit = text_limit(max_seq_length, source.model.config.max_position_embeddings);
  const bool pairs = !examples.empty() && examples[0].text_pair.has_value();
  user_check(!pairs || source.model.config.type_vocab_size >= 2,
             "pairs of texts need a model with two types of tokens, this one has {} "
             "(type_vocab_size in its config.json); leave --text_pair_column out, or take another "
             "model",
             source.model.config.type_vocab_size);
  EncodedSet set = encode_examples(context.pool, source.tokenizer, examples, limit);
  if (set.truncated_texts > 0)
    warnings.push_back(fmt::format("{}: {} of {} texts were cut to {} tokens", name,
                                   set.truncated_texts, set.size(), limit));
  if (set.replaced_bytes > 0)
    warnings.push_back(
        fmt::format("{}: {} ill-formed bytes were read as U+FFFD; the texts are not UTF-8", name,
                    set.replaced_bytes));
  return set;
}

EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const std::vector<Example>& test, std::int64_t max_seq_length,
                            Context& context, std::vector<std::string>& warnings) {
  const auto encode = [&](const std::vector<Example>& examples, const char* name) {
    return encode_part(source, examples, name, max_seq_length, context, warnings);
  };
  return {encode(splits.source.train, "train"), encode(splits.source.validation, "validation"),
          encode(test, "test"), splits.validation_source, splits.protocol};
}

std::size_t text_limit(std::int64_t max_seq_length, std::int64_t positions) {
  const std::int64_t wanted = max_seq_length > 0 ? max_seq_length : 512;
  return static_cast<std::size_t>(std::min(wanted, positions));
}

}  // namespace hone
