#include "hone/jobs/job_data.h"

#include <fmt/format.h>

#include "hone/base/json.h"
#include "hone/jobs/value_kinds.h"
#include "hone/text/text_encoding.h"

namespace hone {
namespace {

std::vector<std::string> common_encodings() {
  return {"utf-8", "utf-16", "latin-1", "windows-1252"};
}

// Accepts 0, or enough tokens for the special ones.
std::string problem_of_length(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && (value == 0 || value >= 2)) return "";
  return fmt::format("expected 0, or at least 2 for the special tokens, got {}", text);
}

}  // namespace

Splits load_splits(const JobData& data, std::uint64_t seed, const KnownLabels& known,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context) {
  const Protocol protocol = parse_protocol(data.protocol);
  DataOptions options = data.options;
  options.label_names = known.names;
  options.task = known.task;
  if (record) options.remembered = record->columns;
  Splits splits =
      split(load_data_set(options, context.pool), {.validation_split = data.validation_split,
                                                   .seed = seed,
                                                   .protocol = protocol,
                                                   .use = use,
                                                   .max_train_samples = data.max_train_samples,
                                                   .max_eval_samples = data.max_eval_samples,
                                                   .record = record});
  print_notes(context, splits.source.notes);
  print_warnings(context, splits.source.warnings);
  return splits;
}

Splits load_splits(const JobData& data, std::uint64_t seed, const ModelFacts& facts,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context) {
  return load_splits(data, seed, KnownLabels{facts.task(), facts.labels}, record, use, context);
}

EvaluationExamples load_measured(const JobData& data, const std::string& split, std::uint64_t seed,
                                 const ModelFacts& facts, const std::optional<TrainedOn>& record,
                                 Context& context, DataIdentity& identity) {
  JobData whole = data;
  whole.options.split = split;
  // A single file is one split: no validation examples are drawn from data that is only measured.
  if (split.empty() || split == "all") whole.validation_split = 0;
  if (record) whole.options.remembered = record->columns;
  const Splits splits =
      load_splits(whole, seed, facts, split == "all" ? std::optional<TrainedOn>() : record,
                  DataUse::measurement, context);
  identity = splits.identity;
  return evaluation_examples(splits, split, record);
}

void report_choice(const EncodedSplits& data, const std::string& unknown, const Context& context,
                   std::vector<std::string>& notes) {
  const MeasuredSplit &choice = data.measured_choice(), &reported = data.measured;
  std::vector<std::string> messages = {"choices are made on " + describe(choice)};
  if (choice.facts.split != reported.facts.split)
    messages.push_back("the chosen one is evaluated once on " + describe(reported));
  messages.push_back(unknown);
  std::erase(messages, "");
  print_notes(context, messages);
  notes.insert(notes.end(), messages.begin(), messages.end());
}

EncodedSplits load_encoded(TextModel& source, const std::string& name, const JobData& data,
                           const std::string& split, std::uint64_t seed, MetricsOf metrics_of,
                           Context& context, std::vector<std::string>& notes,
                           const TextInspector& inspect) {
  const bool fresh = is_new_model(name);
  JobData asked = data;
  asked.options.split = split;
  const ModelFacts& facts = source.model.facts;
  // The outputs of a random head have no meaning yet, so any class can be any output.
  const bool untrained = !fresh && source.model.has_untrained_head() &&
                         facts.has_default_labels() && facts.task() == Task::single_label;
  const KnownLabels known = fresh       ? known_labels(name)
                            : untrained ? KnownLabels{.task = facts.task()}
                                        : KnownLabels{facts.task(), facts.labels};
  const Splits splits =
      load_splits(asked, seed, known, source.trained_on, DataUse::compression, context);
  if (fresh) source = open_model(name, context, seed, splits.source.scheme());
  user_check(!untrained || std::ssize(splits.source.label_names) == facts.class_count(),
             "{}: the data has {} classes or labels, the model {}; train a head first with `hone "
             "train`",
             name, splits.source.label_names.size(), facts.class_count());
  keep_truncation(data.cut, source);
  std::vector<std::string> warnings = source.model.warnings;
  warnings.push_back(untrained_warning(source, name));
  warnings.push_back(truncation_warning(data.cut));
  const EvaluationExamples measured = evaluation_examples(splits, split, source.trained_on);
  EncodedSplits encoded =
      encode_splits(source, splits, measured, source.trained_on, data.cut, context, warnings);
  if (inspect) inspect(splits.source, measured, warnings);
  std::erase(warnings, "");
  print_warnings(context, warnings);
  for (const std::vector<std::string>& lines :
       {splits.source.notes, splits.source.warnings, warnings})
    notes.insert(notes.end(), lines.begin(), lines.end());
  const std::string unknown = unknown_texts(name, source.trained_on);
  if (metrics_of == MetricsOf::one_model) {
    report_measured_split(encoded.measured, {unknown}, context, notes);
  } else {
    report_choice(encoded, unknown, context, notes);
  }
  return encoded;
}

void report_measured_split(const MeasuredSplit& split, const std::vector<std::string>& unknown,
                           const Context& context, std::vector<std::string>& notes) {
  std::vector<std::string> messages = {"measured on " + describe(split)};
  messages.insert(messages.end(), unknown.begin(), unknown.end());
  std::erase(messages, "");
  print_notes(context, messages);
  notes.insert(notes.end(), messages.begin(), messages.end());
}

std::optional<TrainedOn> known_record(const std::string& model) {
  return is_new_model(model) ? TrainedOn{} : read_trained_on(find_encoder(model));
}

KnownLabels known_labels(const std::string& model) {
  const ModelFacts facts = facts_of_model(model);
  KnownLabels known{.task = facts.problem_type};
  if (facts.class_count() == 1) known.task = facts.task();
  if (is_new_model(model) || (facts.has_default_labels() && !has_trained_head(find_encoder(model))))
    return known;
  if (!facts.has_default_labels()) known.task = facts.task();
  known.names = facts.labels;
  return known;
}

Options options_of(const DataOptions*) {
  return {
      Heading::data,
      {option<&DataOptions::text_column>("text_column", "column with the text; by default detected")
           .shown("COLUMN"),
       option<&DataOptions::text_pair_column>("text_pair_column",
                                              "column with the second text of a pair")
           .shown("COLUMN")
           .rare(),
       option<&DataOptions::label_column>("label_column",
                                          "column with the label; by default detected")
           .shown("COLUMN"),
       option<&DataOptions::form, &TableForm::no_header>(
           "no_header", "the CSV or TSV file has no header row; columns are 0, 1, ...")
           .rare(),
       option<&DataOptions::form, &TableForm::quoting>(
           "quoting", "whether quotes enclose CSV and TSV fields; by default detected")
           .one_of({"none", "minimal"})
           .rare(),
       option<&DataOptions::form, &TableForm::encoding>(
           "encoding", "encoding of text files, such as latin-1; by default utf-8")
           .takes({.shown = "NAME", .choices = common_encodings})
           .checked([](const std::string& name) {
             return is_text_encoding(name) ? std::string()
                                           : fmt::format(
                                                 "expected a name such as utf-8, utf-16, latin-1 "
                                                 "or windows-1252, got '{}'",
                                                 name);
           })
           .rare(),
       option<&DataOptions::form, &TableForm::json_field>(
           "json_field", "key of the list of rows in a JSON object")
           .shown("KEY")
           .rare(),
       option<&DataOptions::strict>("strict_utf8", "reject text that is not valid UTF-8").rare()}};
}

Options options_of(const TextCut*) {
  return {Heading::data,
          {option<&TextCut::max_seq_length>(
               "max_seq_length", "maximum tokens per example (0: the model's limit, at most 512)")
               .checked(problem_of_length)
               .rare(),
           option<&TextCut::truncation>(
               "truncation", "which tokens of a long text to keep; by default the tokenizer's")
               .rare()}};
}

Options label_map_option() {
  return {
      Heading::data,
      {option<&DataOptions::label_map>("label_map",
                                       "rename labels: neg=NEGATIVE,... (ids: class numbers)")
           .takes({.shown = "ids|LIST", .choices = [] { return std::vector<std::string>{"ids"}; }})
           .rare()}};
}

Options options_of(const JobData*) {
  return {
      Heading::data,
      {option<&JobData::options, &DataOptions::source>("data", kDataSources).takes(kDataValue),
       group<&JobData::options>(), group<&JobData::cut>(),
       group<&JobData::options>(label_map_option()),
       option<&JobData::validation_split>("validation_split", "fraction set aside for validation")
           .from(0, 1),
       option<&JobData::max_eval_samples>("max_eval_samples",
                                          "evaluate on a random sample of each split (0: all)")
           .from(0)
           .rare(),
       option<&JobData::protocol>(
           "protocol", "honest: choose on validation; original: train on all, choose on test")
           .one_of({"honest", "original"})
           .rare()}};
}

Options required_data() {
  Options rows = options<JobData>();
  rows.at("data").is_required = true;
  return rows;
}

Options train_samples_option() {
  return {
      Heading::data,
      {option<&JobData::max_train_samples>("max_train_samples", "train on a random sample (0: all)")
           .from(0)
           .rare()}};
}

Options training_data() { return {required_data(), train_samples_option()}; }

}  // namespace hone
