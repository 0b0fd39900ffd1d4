#include "hone/jobs/tokenize.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/columns.h"
#include "hone/data/row_order.h"
#include "hone/data/synthetic_words.h"
#include "hone/jobs/job_data.h"
#include "hone/models/text_limit.h"
#include "hone/models/vocabulary.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

TokenFacts token_facts(const std::string& split, const EncodedSet& set, const Tokenizer& tokenizer,
                       std::int64_t batch_size) {
  TokenFacts facts{.split = split, .texts = set.size(), .cut = set.truncated_texts};
  for (const auto& ids : set.ids)
    facts.unknown += std::count(ids.begin(), ids.end(), tokenizer.unknown_id());
  const std::vector<std::int64_t> lengths = lengths_of(set);
  std::vector<std::int64_t> sorted = lengths;
  std::ranges::sort(sorted);
  facts.tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const auto percentile = [&](double percent) {
    return sorted[static_cast<std::size_t>(percent / 100 *
                                           static_cast<double>(lengths.size() - 1))];
  };
  facts.median_tokens = percentile(50);
  facts.p90_tokens = percentile(90);
  facts.p99_tokens = percentile(99);
  facts.longest_tokens = percentile(100);
  std::vector<std::int64_t> order = epoch_order(set.size(), /*seed=*/42, /*epoch=*/0, true);
  facts.padding = padding_share(lengths, order, batch_size);
  group_by_length(lengths, batch_size, /*seed=*/42, /*epoch=*/0, order);
  facts.grouped_padding = padding_share(lengths, order, batch_size);
  return facts;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Tokenizer and positions of a model, without its weights.
struct TokenizerOfModel {
  Tokenizer tokenizer;
  std::int64_t positions;
  std::optional<TokenLimit> limit = {};             ///< from the folder
  std::string source;                               ///< origin of the vocabulary, for users
  std::optional<std::int64_t> training_texts = {};  ///< from which it was learned
};

DataSet read_data(const TokenizeJob& job, bool labelled, Context& context) {
  DataOptions options = job.data;
  options.labelled = labelled;
  if (labelled) options.task = known_labels(job.model).task;
  if (const std::optional<TrainedOn> record = known_record(job.model))
    options.remembered = record->columns;
  return load_data_set(options, context.pool);
}

/// The data as training would read it.
struct Labelled {
  std::optional<DataSet> data = {};  ///< empty: it has no labels, or training would refuse them
  std::string refusal = {};
};

Labelled read_labels(const TokenizeJob& job, Context& context) {
  try {
    return {.data = read_data(job, /*labelled=*/true, context)};
  } catch (const NoLabelColumn&) {
    return {};
  } catch (const UserError& error) {
    return {.refusal = error.what()};
  }
}

void report_data(const DataSet& data, const Labelled& labelled, const Context& context) {
  const DataSet& read = labelled.data ? *labelled.data : data;
  print_notes(context, read.notes);
  print_warnings(context, read.warnings);
  if (labelled.data) print_warnings(context, training_warnings(read));
  if (!labelled.refusal.empty())
    print_warnings(context, {"`hone train` would refuse the labels: " + labelled.refusal});
}

// Draws the validation split by class. Data whose labels training would refuse has no classes here.
void split_as_training_does(const TokenizeJob& job, std::optional<DataSet>& labelled,
                            DataSet& data) {
  DataSet source = split(labelled ? *labelled : data,
                         {.validation_split = JobData().validation_split, .seed = job.seed})
                       .source;
  data.train = source.train;
  data.validation = source.validation;
  if (labelled) labelled = std::move(source);
}

// For fresh weights, learns the tokenizer that `hone train` would learn, without the texts of the validation split.
TokenizerOfModel open_tokenizer(const TokenizeJob& job, std::optional<DataSet>& labelled,
                                DataSet& data, Context& context) {
  const VocabularyOptions options{job.model, job.data.source, job.vocabulary};
  check_reads_texts(facts_of_model(job.model), job.model, "a tokenizer");
  const bool learns = learns_vocabulary(options);
  if (!is_new_model(job.model)) {
    const SentenceEncoder encoder = read_sentence_encoder(find_model(job.model));
    const fs::path config = encoder.folder / "config.json";
    const ModelFacts facts = model_facts(read_json(config), config.string());
    return {.tokenizer = read_tokenizer(encoder, facts),
            .positions = facts.limits.tokens,
            .limit = encoder.limit,
            .source = fmt::format("from {}", job.model)};
  }
  const ModelFacts facts = new_model_facts(job.model);
  const std::int64_t positions = facts.limits.tokens;
  if (const fs::path beside = folder_with_tokenizer(job.model); !beside.empty()) {
    const SentenceEncoder encoder{.folder = beside, .limit = read_sentence_encoder(beside).limit};
    return {read_tokenizer(encoder, facts), positions, encoder.limit,
            fmt::format("from the folder of {}", job.model)};
  }
  if (learns) split_as_training_does(job, labelled, data);
  if (std::optional<LearnedVocabulary> learned = learn_vocabulary(options, data.train, context))
    return {std::move(learned->tokenizer), positions, std::nullopt,
            fmt::format("learned from {} training texts, as `hone train {}` learns it",
                        grouped(learned->texts), job.model),
            learned->texts};
  return {synthetic_tokenizer(), positions, std::nullopt, "of the built-in data"};
}

/// Returns the splits of the data by name.
std::vector<std::pair<std::string, const std::vector<Example>*>> splits_of(const DataSet& data) {
  return {{"train", &data.train}, {"validation", &data.validation}, {"test", &data.test}};
}

std::vector<TokenView> views_of(const DataSet& data, const Tokenizer& tokenizer,
                                const TextLimit& limit, std::int64_t most) {
  std::vector<TokenView> views;
  for (const auto& [name, examples] : splits_of(data))
    for (std::int64_t i = 0; i < std::min(most, std::ssize(*examples)); ++i) {
      views.push_back(view_tokens(tokenizer, (*examples)[static_cast<std::size_t>(i)], limit.tokens,
                                  limit.truncation));
      views.back().split = name;
      views.back().row = i + 1;
    }
  return views;
}

DataIdentity identity_of(const TokenizeJob& job, const std::optional<DataSet>& labelled,
                         const DataSet& data, const std::vector<TokenFacts>& splits) {
  if (labelled)
    return split(*labelled, {.validation_split = 0, .use = DataUse::measurement}).identity;
  DataIdentity identity;
  identity.source = job.data.source;
  identity.hash = data.hash;
  for (const TokenFacts& facts : splits) {
    identity.splits.push_back({.split = facts.split, .rows = facts.texts});
    identity.rows += facts.texts;
  }
  return identity;
}

std::string columns_text(const NamedColumns& columns, const Labelled& labelled) {
  std::string text = fmt::format("The text is column '{}'", shown_name(columns.text));
  if (!columns.text_pair.empty())
    text += fmt::format(", the second text '{}'", shown_name(columns.text_pair));
  if (!labelled.refusal.empty()) return text + "; `hone train` would refuse the labels.";
  return text + (columns.label.empty()
                     ? "; there is no label column."
                     : fmt::format(", the label '{}'.", shown_name(columns.label)));
}

// Lists the classes with their counts, the most frequent first.
Table classes_table(const DataIdentity& identity) {
  std::vector<Column> columns = {
      {"class", identity.splits.front().task == Task::multi_label ? "Label" : "Class"}};
  for (const SplitFacts& split : identity.splits)
    columns.push_back({split.split, capitalized(split.split)});
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < identity.labels.size(); ++i) {
    order.emplace_back(0, i);
    for (const SplitFacts& split : identity.splits) order.back().first -= split.class_rows[i];
  }
  std::ranges::sort(order);
  Table table(std::move(columns));
  for (const auto& [count, i] : order) {
    std::vector<Cell> cells = {shown_name(identity.labels[i])};
    for (const SplitFacts& split : identity.splits) cells.emplace_back(split.class_rows[i]);
    table.add_row(std::move(cells));
  }
  return table;
}

// Describes the columns and the labels.
void add_labels(const DataIdentity& identity, const NamedColumns& columns, const Labelled& labelled,
                std::vector<Block>& blocks) {
  constexpr std::size_t kMostListed = 100;
  if (!columns.text.empty()) blocks.push_back(Paragraph{columns_text(columns, labelled)});
  if (!labelled.data) return;
  if (labelled.data->task != Task::regression && identity.labels.size() <= kMostListed) {
    blocks.push_back(PageTable{classes_table(identity)});
    return;
  }
  for (const SplitFacts& split : identity.splits)
    blocks.push_back(Paragraph{fmt::format("{}: {}.", capitalized(split.split),
                                           class_counts_text(split, identity.labels))});
}

// Shows the lengths and the labels, then each text with its tokens.
void fill_document(const TokenizeJob& job, const TokenizerOfModel& model, const TextLimit& limit,
                   std::vector<Block> of_labels, TokenizeResult& result) {
  Document& document = result.document;
  std::int64_t texts = 0, tokens = 0, cut = 0, unknown = 0;
  for (const TokenFacts& facts : result.splits) {
    texts += facts.texts;
    tokens += facts.tokens;
    cut += facts.cut;
    unknown += facts.unknown;
  }
  document.title = fmt::format("{} tokenized by {}", job.data.source, job.model);
  document.headline = fmt::format("{} texts, {} tokens", grouped(texts), grouped(tokens));
  document.key_figures = {{"Vocabulary", fmt::format("{} tokens", grouped(result.vocab_size))},
                          {"Truncated", fmt::format("{} texts", grouped(cut))},
                          {"Unknown", fmt::format("{} tokens", grouped(unknown))}};
  document.sections.push_back(
      {"",
       {PageTable{headed_table(result.splits)},
        Paragraph{fmt::format(
            "Vocabulary: {}. At most {} tokens per text{}{}. Padding: in shuffled "
            "batches of {}, and in batches grouped by length.",
            model.source, limit.tokens, kept_tokens_text(limit.truncation),
            limit.of_folder ? fmt::format(" (from {})", limit.source) : "", job.batch_size)}}});
  std::vector<Block>& blocks = document.sections.front().blocks;
  std::ranges::move(of_labels, std::back_inserter(blocks));
  for (const TokenView& view : result.views)
    blocks.push_back(Preformatted{to_text(view, job.columns)});
}

}  // namespace

const Fields& fields_of(const TokenFacts*) {
  using T = TokenFacts;
  static const Fields fields = describe<T>(
      "token_facts", "The tokens of one split.",
      field<&T::split>("split", "Name of the split.", "Split"),
      field<&T::texts>("n", Unit::examples, "Number of texts.", "Texts"),
      field<&T::tokens>("tokens", Unit::tokens, "Number of tokens in all texts.", "Tokens"),
      field<&T::median_tokens>("median_tokens", Unit::tokens, "Median of a text.", "Median"),
      field<&T::p90_tokens>("p90_tokens", Unit::tokens, "90% of the texts have at most as many.",
                            "90%"),
      field<&T::p99_tokens>("p99_tokens", Unit::tokens, "99% of the texts have at most as many.",
                            "99%"),
      field<&T::longest_tokens>("longest_tokens", Unit::tokens, "Length of the longest text.",
                                "Longest"),
      field<&T::cut>("cut_texts", Unit::examples, "Texts that were truncated.", "Truncated"),
      omitted<&T::unknown>(),
      field<&T::unknown_share>("unknown_share", Unit::share, "Share of unknown tokens.", "Unknown"),
      field<&T::padding>("padding_share", Unit::share,
                         "Share of the positions in shuffled batches.", "Padding"),
      field<&T::grouped_padding>("grouped_padding_share", Unit::share,
                                 "Share of the positions in batches grouped by length.",
                                 "Padding, grouped"));
  return fields;
}

const Fields& fields_of(const VocabularyResult*) {
  using V = VocabularyResult;
  static const Fields fields = describe<V>(
      "vocabulary", "The vocabulary of a tokenizer.",
      field<&V::vocab_size>("vocab_size", Unit::tokens, "Number of tokens."),
      field<&V::source>("source", "Where they come from."),
      field<&V::training_texts>("training_texts", Unit::examples,
                                "Texts they were learned from; null: they were not learned here."));
  return fields;
}

const Fields& fields_of(const TokenizeFields*) {
  using T = TokenizeFields;
  static const Fields fields = describe<T>(
      "tokenize", "A dataset as tokens.",
      field<&T::model>("model", "The model whose tokenizer was used, as it was named."),
      field<&T::data>(
          "data",
          "The data as training reads it; without classes where it has no labels for training."),
      field<&T::vocabulary>("vocabulary", "The vocabulary of the tokenizer."),
      field<&T::texts>("texts", "The first texts of every split, as many as --examples."),
      field<&T::splits>("splits", "Every split that has texts."),
      field<&T::max_seq_length>("max_seq_length", Unit::tokens, "Longer texts are truncated."),
      field<&T::truncation>("truncation",
                            "Tokens of a longer text that are kept: head, tail or head_tail."),
      field<&T::batch_size>("batch_size", Unit::examples, "Batch size for the shares of padding."),
      field<&T::threads>("threads", "Threads used."),
      field<&T::read_seconds>("read_seconds", Unit::seconds, "Time to read the data."),
      field<&T::tokenize_seconds>("tokenize_seconds", Unit::seconds, "Time to tokenize it."));
  return fields;
}

TokenizeResult tokenize_data(const TokenizeJob& job, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  DataSet data = read_data(job, /*labelled=*/false, context);
  const double read_seconds = seconds_since(start);
  Labelled labelled = read_labels(job, context);
  report_data(data, labelled, context);
  const TokenizerOfModel model = open_tokenizer(job, labelled.data, data, context);
  print_warnings(context, {length_warning(job.cut.max_seq_length, model.positions)});

  TextLimit limit = text_limit(job.cut, model.positions, model.limit);
  limit.truncation = job.cut.truncation.value_or(model.tokenizer.definition().truncation);
  check_room(limit, model.tokenizer, /*pairs=*/false);
  TokenizeResult result;
  result.vocab_size = model.tokenizer.vocabulary_size();
  result.training_texts = model.training_texts;
  double tokenize_seconds = 0;
  for (const auto& [name, examples] : splits_of(data)) {
    if (examples->empty()) continue;
    if (examples->front().text_pair) check_room(limit, model.tokenizer, /*pairs=*/true);
    const auto middle = std::chrono::steady_clock::now();
    const EncodedSet set = encode_examples(context.pool, model.tokenizer, *examples, limit.tokens,
                                           Task::single_label, limit.truncation);
    tokenize_seconds += seconds_since(middle);
    if (set.replaced_bytes > 0)
      print_warnings(context, {fmt::format("{}: {}", name, not_utf8_warning(set.replaced_bytes))});
    result.splits.push_back(token_facts(name, set, model.tokenizer, job.batch_size));
  }
  result.views = views_of(data, model.tokenizer, limit, job.texts);
  const DataIdentity identity = identity_of(job, labelled.data, data, result.splits);
  const int threads = context.pool.threads();
  result.fields = to_json(TokenizeFields{.model = job.model,
                                         .data = data_result(identity),
                                         .vocabulary = {.vocab_size = result.vocab_size,
                                                        .source = model.source,
                                                        .training_texts = model.training_texts},
                                         .texts = result.views,
                                         .splits = result.splits,
                                         .max_seq_length = limit.tokens,
                                         .truncation = to_string(limit.truncation),
                                         .batch_size = job.batch_size,
                                         .threads = threads,
                                         .read_seconds = read_seconds,
                                         .tokenize_seconds = tokenize_seconds});
  std::int64_t texts = 0;
  for (const TokenFacts& facts : result.splits) texts += facts.texts;
  const auto texts_per_second =
      static_cast<long long>(static_cast<double>(texts) / (read_seconds + tokenize_seconds));
  std::vector<Block> of_labels;
  add_labels(identity, labelled.data ? labelled.data->columns : data.columns, labelled, of_labels);
  fill_document(job, model, limit, std::move(of_labels), result);
  result.document.key_figures.push_back(
      {"Speed", fmt::format("{} texts/s on {} threads", grouped(texts_per_second), threads)});
  return result;
}

}  // namespace hone
