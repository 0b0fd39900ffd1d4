#include "hone/models/encoding.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/data/row_hash.h"
#include "hone/frontends/huggingface/score_activation.h"
#include "hone/models/image_examples.h"
#include "hone/models/pair_warning.h"
#include "hone/models/vocabulary.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// Warns that metrics and losses are of the raw output, whose scale differs from that of scores.
std::string raw_score_warning(const ModelFacts& facts) {
  const std::string_view activation = title(score_activation(facts));
  if (activation.empty() || facts.task() != Task::regression) return "";
  return fmt::format(
      "metrics and losses use the model's number before the {} that `hone predict` "
      "applies to it, like CrossEncoder of sentence-transformers",
      activation);
}

}  // namespace

void check_takes_pairs(const InputLimits& limits, const Tokenizer& tokenizer,
                       const TextLimit& limit) {
  user_check(limits.pairs() || !tokenizer.definition().framing.second_is_type_1,
             "pairs of texts need a model with two types of tokens, this one has {} "
             "(type_vocab_size in its config.json); leave the second text out, or use "
             "another model",
             limits.token_types);
  check_room(limit, tokenizer, /*pairs=*/true);
}

EncodedSet encode_for(const TextModel& source, const std::vector<Example>& examples,
                      const TextLimit& limit, Context& context) {
  const Task task = source.model.facts.task();
  if (source.images) return encode_images(context.pool, *source.images, examples, task);
  // Otherwise it would read their file names, which may contain classes.
  for (const Example& example : examples)
    user_check(example.image_hash == 0, "{}: it is an image, but the model ({}) reads texts",
               example.text, source.model.facts.architecture);
  const auto encode = [&](const std::vector<Example>& texts) {
    return encode_examples(context.pool, source.tokenizer, texts, limit.tokens, task,
                           limit.truncation);
  };
  if (source.prompt.empty()) return encode(examples);
  std::vector<Example> prompted = examples;
  for (Example& example : prompted) example.text.insert(0, source.prompt);
  return encode(prompted);
}

void check_text_room(const TextModel& source, const TextLimit& limit) {
  if (!source.images) check_room(limit, source.tokenizer, /*pairs=*/false);
}

EncodedSet encode_split(const TextModel& source, const std::vector<Example>& examples,
                        const std::string& name, const TextCut& cut, Context& context,
                        std::vector<std::string>& warnings) {
  const TextLimit limit = text_limit(cut, source);
  if (source.images) {
    EncodedSet set =
        with_context(name, [&] { return encode_for(source, examples, limit, context); });
    set.text_numbers = text_numbers(row_hashes(examples));
    set.unseen = unseen_rows(examples);
    return set;
  }
  const bool pairs = !examples.empty() && examples[0].text_pair;
  if (pairs) check_takes_pairs(source.model.facts.limits, source.tokenizer, limit);
  check_text_room(source, limit);
  // These warnings are the same for every split, so they are added once.
  for (const std::string& warning :
       {length_warning(cut.max_seq_length, source.model.facts.limits.tokens),
        raw_score_warning(source.model.facts),
        pair_warning(source, pairs || examples.empty(), "text_pair_column")})
    if (!warning.empty() && std::ranges::find(warnings, warning) == warnings.end())
      warnings.push_back(warning);
  EncodedSet set = encode_for(source, examples, limit, context);
  set.text_numbers = text_numbers(row_hashes(examples));
  set.unseen = unseen_rows(examples);
  const auto is_of_spelling = [](const std::string& warning) {
    return warning.find(kUnknownWords) != std::string::npos;
  };
  if (std::string spelling = spelling_warning(source.tokenizer, set, name);
      !spelling.empty() && std::ranges::none_of(warnings, is_of_spelling))
    warnings.push_back(std::move(spelling));
  const auto is_of_unknown = [](const std::string& warning) {
    return warning.find(kUnknownTokens) != std::string::npos;
  };
  if (std::string unknown = unknown_warning(source.tokenizer, set, name);
      !unknown.empty() && std::ranges::none_of(warnings, is_of_unknown))
    warnings.push_back(std::move(unknown));
  if (set.truncated_texts > 0)
    warnings.push_back(fmt::format("{}: {} of {} texts {} truncated to {} tokens{}", name,
                                   grouped(set.truncated_texts), grouped(set.size()),
                                   set.truncated_texts == 1 ? "was" : "were", limit.tokens,
                                   reason(limit)));
  if (set.replaced_bytes > 0)
    warnings.push_back(fmt::format("{}: {}", name, not_utf8_warning(set.replaced_bytes)));
  return set;
}

EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const EvaluationExamples& test, const std::optional<TrainedOn>& record,
                            const TextCut& cut, Context& context,
                            std::vector<std::string>& warnings) {
  const auto encode = [&](const std::vector<Example>& examples, const std::string& name) {
    return encode_split(source, examples, name, cut, context, warnings);
  };
  const DataSet& data = splits.source;
  EncodedSplits encoded{.train = encode(data.train, "train"),
                        .validation = encode(data.validation, "validation"),
                        .validation_source = splits.validation_source,
                        .protocol = splits.protocol,
                        .identity = splits.identity,
                        .train_rows = row_hashes(data.train),
                        .validation_rows = row_hashes(data.validation),
                        .measured = test.split};
  const std::string& measured_split = test.split.facts.split;
  if (splits.protocol == Protocol::original && measured_split == "test")
    encoded.measured.chosen_on_rows = encoded.measured.facts.rows;
  const auto is_all_of = [&](const std::vector<Example>& examples, const char* name) {
    return measured_split == name && test.examples.size() == examples.size();
  };
  if (is_all_of(data.validation, "validation")) {
    encoded.test = encoded.validation;
  } else if (is_all_of(data.train, "train")) {
    encoded.test = encoded.train;
  } else {
    encoded.test = encode(test.examples, measured_split);
  }
  encoded.test.unseen = unseen_rows(test.examples);
  const auto warn = [&](const MeasuredSplit& measured) {
    const std::vector<std::string> unsure = warnings_of(measured, data.label_names);
    warnings.insert(warnings.end(), unsure.begin(), unsure.end());
  };
  if (!data.validation.empty()) {
    encoded.measured_validation = evaluation_examples(splits, "validation", record).split;
    encoded.measured_validation.is_for_choices =
        !test.examples.empty() && measured_split != "validation";
    if (measured_split != "validation") warn(encoded.measured_validation);
  }
  if (!test.examples.empty()) warn(encoded.measured);
  return encoded;
}

}  // namespace hone
