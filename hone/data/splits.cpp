#include "hone/data/splits.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/text.h"
#include "hone/data/row_order.h"
#include "hone/data/stratified_draw.h"

namespace hone {
namespace {

// Moves the `chosen` examples from training to validation; keeps the order.
void set_aside(DataSet& data, const std::vector<char>& chosen) {
  std::vector<Example> train;
  for (std::size_t i = 0; i < data.train.size(); ++i)
    (chosen[i] != 0 ? data.validation : train).push_back(std::move(data.train[i]));
  data.train = std::move(train);
}

std::string count_text(std::size_t count) { return grouped(static_cast<long long>(count)); }

bool set_aside_by_seed(Splits& splits) {
  const SplitOptions& options = splits.options;
  DataSet& data = splits.source;
  const std::size_t all = data.train.size();
  // Rounds the share to whole rows.
  const double rows = std::round(options.validation_split * static_cast<double>(all));
  if (rows == 0) return false;
  const std::vector<char> chosen =
      draw_stratified(data.train, data.scheme(), rows / static_cast<double>(all), options.seed);
  const auto found = static_cast<std::size_t>(std::ranges::count(chosen, 1));
  if (found == 0) return false;
  set_aside(data, chosen);
  splits.validation_source = {ValidationOrigin::set_aside,
                              fmt::format("{} of {} training examples, set aside by seed {}",
                                          count_text(found), count_text(all), options.seed)};
  return true;
}

// `complete`: the record covers everything the model has learned.
std::string source_of_known(std::size_t all, std::size_t old, std::size_t fresh, bool complete) {
  const char* what = complete ? "are new to the model" : "its record does not know";
  if (fresh == 0)
    return fmt::format("the {} of {} examples that training set aside", count_text(old),
                       count_text(all));
  if (old == 0)
    return fmt::format("the {} of {} examples that {}", count_text(fresh), count_text(all), what);
  return fmt::format("{} of {} examples: {} that training set aside, and {} that {}",
                     count_text(old + fresh), count_text(all), count_text(old), count_text(fresh),
                     what);
}

// Sets aside rows that the model was not trained on, in data that it was trained on.
bool set_aside_as_before(Splits& splits) {
  const SplitOptions& options = splits.options;
  DataSet& data = splits.source;
  if (options.use == DataUse::training && options.validation_split == 0) return false;
  const bool measures_new = options.use != DataUse::training && data.test.empty();
  const std::optional<SetAside> found =
      rows_set_aside_before(row_hashes(data.train), options.record, measures_new);
  if (!found) return false;
  set_aside(data, found->rows);
  splits.validation_source = {ValidationOrigin::set_aside, found->source};
  return true;
}

// Keeps `most` of the examples, drawn by seed, in their order; 0: all. Returns a description, empty if all stay.
std::string keep_sample(std::vector<Example>& examples, std::int64_t most, std::uint64_t seed,
                        std::string_view purpose) {
  const auto all = static_cast<std::int64_t>(examples.size());
  if (most == 0 || most >= all) return "";
  std::vector<std::int64_t> rows = sample_rows(all, most, seed, purpose);
  std::ranges::sort(rows);
  std::vector<Example> kept;
  for (const std::int64_t row : rows)
    kept.push_back(std::move(examples[static_cast<std::size_t>(row)]));
  examples = std::move(kept);
  return fmt::format("{} of {} of them, drawn by seed {}", grouped(most), grouped(all), seed);
}

std::vector<std::pair<std::string, const std::vector<Example>*>> splits_of(const DataSet& data) {
  return {{"train", &data.train}, {"validation", &data.validation}, {"test", &data.test}};
}

// Descriptions of sampled splits, by name.
using Samples = std::map<std::string, std::string>;

std::string with_sample(const std::string& origin, const std::string& sample) {
  return sample.empty() ? origin : origin + "; " + sample;
}

// Duplicates are counted against other splits only. With the original protocol, validation duplicates are not counted,
// because all of the test split serves for choices.
SplitFacts facts_of_split(const std::string& name, const std::vector<Example>& examples,
                          std::span<const std::uint64_t> hashes, const Splits& splits,
                          const RowSet& training_rows) {
  const DataSet& data = splits.source;
  const bool itself = name == "train" || name == "all";
  SplitFacts facts =
      split_facts(name, examples, hashes, data.scheme(), itself ? RowSet{} : training_rows);
  if (facts.duplicate_rows > 0) facts.duplicates = duplicate_rows(examples, data.train, data.files);
  if (name != "test" || splits.protocol == Protocol::original) return facts;
  const RowSet validation = row_set(row_hashes(data.validation));
  facts.validation_duplicate_rows =
      std::ranges::count_if(hashes, [&](std::uint64_t hash) { return contains(validation, hash); });
  if (facts.validation_duplicate_rows > 0)
    facts.validation_duplicates = duplicate_rows(examples, data.validation, data.files);
  return facts;
}

// Returns the facts of every split that has examples.
DataIdentity identify(const Splits& splits, std::int64_t rows, const Samples& samples) {
  const DataSet& data = splits.source;
  DataIdentity identity{data.source, data.hash, rows, data.label_names, {}, data.columns};
  const RowSet training_rows = row_set(row_hashes(data.train));
  for (const auto& [name, examples] : splits_of(data))
    if (!examples->empty()) {
      identity.splits.push_back(
          facts_of_split(name, *examples, row_hashes(*examples), splits, training_rows));
      identity.splits.back().sample = samples.at(name);
    }
  return identity;
}

// Marks the examples whose text was used for training or choices, unless they are negligible or all. The validation
// split is used for choices by definition, so that does not count.
void mark_seen(EvaluationExamples& texts, std::span<const std::uint64_t> hashes,
               const Splits& splits, const std::optional<TrainedOn>& record) {
  const std::string& name = texts.split.facts.split;
  // All choices are made on the test split.
  if (name == "test" && splits.protocol == Protocol::original) return;
  std::vector<RowSet> used;
  if (record) used.push_back(record->trained);
  if (record && name != "validation") used.push_back(record->chosen);
  if (name == "test" || name == "validation")
    used.push_back(row_set(row_hashes(splits.source.train)));
  if (name == "test") used.push_back(row_set(row_hashes(splits.source.validation)));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    texts.examples[i].seen =
        std::ranges::any_of(used, [&](const RowSet& rows) { return contains(rows, hashes[i]); });
    seen += texts.examples[i].seen ? 1 : 0;
  }
  if (is_negligible(seen, texts.split.facts) || seen == texts.split.facts.rows)
    for (Example& example : texts.examples) example.seen = false;
}

std::string origin_of(const Splits& splits, const std::string& name) {
  if (name == "validation") return splits.validation_source.text;
  const auto& requested = splits.source.requested_split;
  std::string origin =
      name == "all" ? "all examples of the data"
      : requested && to_string(requested->second) == name
          ? fmt::format("the data's split {}", requested->first)
          : fmt::format("the data's {} split", name == "train" ? "training" : name);
  for (const SplitFacts& facts : splits.identity.splits) {
    if (facts.split == name) return with_sample(origin, facts.sample);
    if (name == "all" && !facts.sample.empty())
      origin += fmt::format("; of {} {}", facts.split, facts.sample);
  }
  return origin;
}

}  // namespace

Protocol parse_protocol(const std::string& text) {
  if (text == "honest") return Protocol::honest;
  if (text == "original") return Protocol::original;
  const std::string known[] = {"honest", "original"};
  fail("`protocol`: expected honest or original, got '{}'{}", text, did_you_mean(text, known));
}

std::string to_string(Protocol protocol) {
  return protocol == Protocol::honest ? "honest" : "original";
}

std::optional<SetAside> rows_set_aside_before(std::span<const std::uint64_t> hashes,
                                              const std::optional<TrainedOn>& record,
                                              bool includes_new) {
  if (!record || !is_training_data(hashes, *record)) return std::nullopt;
  SetAside aside{.rows = std::vector<char>(hashes.size(), 0)};
  std::size_t old = 0, fresh = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (contains(record->trained, hashes[i])) continue;
    const bool was_set_aside = contains(record->chosen, hashes[i]);
    if (!was_set_aside && !includes_new) continue;
    aside.rows[i] = 1;
    ++(was_set_aside ? old : fresh);
  }
  if (old + fresh == 0) return std::nullopt;
  aside.source = source_of_known(hashes.size(), old, fresh, record->complete);
  return aside;
}

Splits split(DataSet data, const SplitOptions& options) {
  user_check(options.validation_split >= 0 && options.validation_split < 1,
             "`validation_split`: expected a share of at least 0 and below 1, got {}",
             options.validation_split);
  Splits splits{.source = std::move(data), .protocol = options.protocol, .options = options};
  DataSet& source = splits.source;
  const std::size_t rows = source.train.size() + source.validation.size() + source.test.size();
  if (options.protocol == Protocol::original) {
    user_check(!source.test.empty(),
               "`protocol` original chooses on the test split, which the data does not have ({}); "
               "give data with a test split, or use `protocol` honest",
               source.description);
    source.validation = source.test;
    splits.validation_source = {ValidationOrigin::test, "the test split: choices are made on it"};
  } else if (!source.validation.empty()) {
    const auto& requested = source.requested_split;
    splits.validation_source = {
        ValidationOrigin::data,
        fmt::format("{} examples of the data's {}", count_text(source.validation.size()),
                    requested && requested->second == SplitRole::validation
                        ? "split " + requested->first
                        : "validation split")};
  } else if (!set_aside_as_before(splits)) {
    set_aside_by_seed(splits);
  }
  const auto sample = [&](std::vector<Example>& examples, std::int64_t most, const char* purpose) {
    return keep_sample(examples, most, options.seed, purpose);
  };
  const Samples samples = {
      {"train", sample(source.train, options.max_train_samples, "training sample")},
      {"validation", sample(source.validation, options.max_eval_samples, "evaluation sample")},
      {"test", sample(source.test, options.max_eval_samples, "evaluation sample")}};
  std::string& validation_text = splits.validation_source.text;
  validation_text = with_sample(validation_text, samples.at("validation"));
  splits.identity = identify(splits, static_cast<std::int64_t>(rows), samples);
  if (options.use == DataUse::measurement) return splits;
  const std::vector<std::string> warnings = training_warnings(source);
  source.warnings.insert(source.warnings.end(), warnings.begin(), warnings.end());
  return splits;
}

const std::vector<Example>& split_named(const Splits& splits, const std::string& requested) {
  const DataSet& source = splits.source;
  const bool own_name = source.requested_split && source.requested_split->first == requested;
  const std::string name = own_name ? to_string(source.requested_split->second) : requested;
  const std::pair<std::string_view, const std::vector<Example>*> parts[] = {
      {"test", &source.test}, {"validation", &source.validation}, {"train", &source.train}};
  for (const auto& [split_name, examples] : parts) {
    if (name.empty() ? examples->empty() : split_name != name) continue;
    user_check(!examples->empty(), "{}: the {} split is empty, or its examples have no labels{}",
               source.description, name,
               source.files.size() == 1
                   ? "; a single file has no splits: leave `split` out to take all of it, or give "
                     "a folder with train.csv and test.csv"
                   : "");
    return *examples;
  }
  user_check(name.empty(), "`split`: expected train, validation, test or all, got '{}'", name);
  fail("{}: there are no examples", source.description);
}

EvaluationExamples evaluation_examples(const Splits& splits, const std::string& name,
                                       const std::optional<TrainedOn>& record) {
  const DataSet& source = splits.source;
  EvaluationExamples texts;
  std::string split_name = name;
  if (name == "all") {
    for (const auto& [own, examples] : splits_of(source))
      texts.examples.insert(texts.examples.end(), examples->begin(), examples->end());
    user_check(!texts.examples.empty(), "{}: there are no examples", source.description);
  } else {
    const std::vector<Example>& examples = split_named(splits, name);
    texts.examples = examples;
    for (const auto& [own, of_split] : splits_of(source))
      if (of_split == &examples) split_name = own;
    // Data without splits that is only measured is not a training split.
    if (name.empty() && split_name == "train" && splits.options.use == DataUse::measurement)
      split_name = "all";
  }
  const std::string origin = with_sample(
      origin_of(splits, split_name), keep_sample(texts.examples, splits.options.max_eval_samples,
                                                 splits.options.seed, "evaluation sample"));
  const std::vector<std::uint64_t> hashes = row_hashes(texts.examples);
  texts.split = measured_split(
      facts_of_split(split_name, texts.examples, hashes, splits, row_set(row_hashes(source.train))),
      origin, texts.examples, hashes, source.label_names, record);
  mark_seen(texts, hashes, splits, record);
  return texts;
}

void check_trainable(const Splits& splits) {
  const DataSet& data = splits.source;
  const SplitFacts facts =
      split_facts("train", data.train, row_hashes(data.train), data.scheme(), {});
  user_check(facts.rows > 0, "{}: there are no examples to train on", data.description);
  if (data.task == Task::regression) {
    const bool varied = std::ranges::any_of(
        facts.numbers, [](const NumberFacts& one) { return one.least < one.greatest; });
    user_check(
        varied,
        "{}: all {} training examples have the same {}; training needs numbers that differ. Is "
        "it the right label column, and was the file cut?",
        data.description, grouped(facts.rows), facts.numbers.size() == 1 ? "number" : "numbers");
    return;
  }
  if (data.task == Task::multi_label) {
    const bool varied = std::ranges::any_of(
        facts.class_rows, [&](std::int64_t rows) { return rows > 0 && rows < facts.rows; });
    user_check(
        varied,
        "{}: all {} training examples have the same labels; training needs a label that some "
        "examples have and others do not. Is it the right label column, and was the file cut?",
        data.description, grouped(facts.rows));
    return;
  }
  user_check(facts.classes_present() > 1,
             "{}: all {} training examples are '{}'; training needs at least two classes. Is "
             "it the right label column, and was the file cut?",
             data.description, grouped(facts.rows), data.label_names[facts.majority_class()]);
}

}  // namespace hone
