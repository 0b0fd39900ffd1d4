#include <algorithm>
#include <chrono>
#include <numeric>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/flags.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/data/row_order.h"
#include "hone/data/synthetic_words.h"
#include "hone/jobs/token_view.h"
#include "hone/models/text_limit.h"
#include "hone/models/vocabulary.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct TokenizeArguments {
  std::string model;
  JobData data;
  std::int64_t batch_size = 32;
  std::int64_t texts = 2;
  std::int64_t vocab_size = 0;
  RunArguments run;
};

/// What one part of the data is as tokens.
struct TokenFacts {
  std::string part;
  std::int64_t texts = 0;
  std::int64_t tokens = 0;
  std::int64_t cut = 0;              ///< texts that were longer than the model's positions
  std::int64_t unknown = 0;          ///< unknown tokens
  std::int64_t replaced = 0;         ///< ill-formed parts of UTF-8
  std::int64_t percentiles[4] = {};  ///< of the tokens of a text: 50, 90, 99, 100
  double padding = 0, grouped_padding = 0;
};

constexpr double kPercentiles[] = {50, 90, 99, 100};

TokenFacts facts_of(const std::string& part, const EncodedSet& set, const Tokenizer& tokenizer,
                    std::int64_t batch_size) {
  TokenFacts facts{.part = part, .texts = set.size(), .cut = set.truncated_texts};
  facts.replaced = set.replaced_bytes;
  for (const auto& ids : set.ids)
    facts.unknown += std::count(ids.begin(), ids.end(), tokenizer.unknown_id());
  const std::vector<std::int64_t> lengths = lengths_of(set);
  std::vector<std::int64_t> sorted = lengths;
  std::ranges::sort(sorted);
  facts.tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i) {
    const auto rank =
        static_cast<std::size_t>(kPercentiles[i] / 100 * static_cast<double>(lengths.size() - 1));
    facts.percentiles[i] = sorted[rank];
  }
  std::vector<std::int64_t> order = epoch_order(set.size(), /*seed=*/42, /*epoch=*/0, true);
  facts.padding = padding_share(lengths, order, batch_size);
  group_by_length(lengths, batch_size, /*seed=*/42, /*epoch=*/0, order);
  facts.grouped_padding = padding_share(lengths, order, batch_size);
  return facts;
}

Table facts_table(const std::vector<TokenFacts>& parts) {
  Table table({{"part", "Part"},
               {"n", "Texts"},
               {"tokens", "Tokens"},
               {"median_tokens", "Median"},
               {"p90_tokens", "90 %"},
               {"p99_tokens", "99 %"},
               {"longest_tokens", "Longest"},
               {"cut_texts", "Cut"},
               {"unknown_share", "Unknown"},
               {"padding_share", "Padding"},
               {"grouped_padding_share", "Grouped"}});
  for (const TokenFacts& f : parts)
    table.add_row({f.part, f.texts, f.tokens, f.percentiles[0], f.percentiles[1], f.percentiles[2],
                   f.percentiles[3], f.cut,
                   percent(static_cast<double>(f.unknown) / static_cast<double>(f.tokens), 2),
                   percent(f.padding), percent(f.grouped_padding)});
  return table;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Tokenizer and positions of a model, without its weights.
struct TokenizerOfModel {
  Tokenizer tokenizer;
  std::int64_t positions;
  std::optional<TokenLimit> limit = {};             ///< what the folder says
  std::string source;                               ///< of the vocabulary, for people
  std::optional<std::int64_t> training_texts = {};  ///< that it was learnt from
};

Json to_json(const TokenizerOfModel& model) {
  Json json = {{"vocab_size", model.tokenizer.vocabulary_size()}, {"source", model.source}};
  if (model.training_texts) json["training_texts"] = *model.training_texts;
  return json;
}

// Of fresh weights as `hone train` would learn it: from texts of which a part is set aside.
TokenizerOfModel open_tokenizer(const TokenizeArguments& a, DataSet& data, Context& context) {
  const VocabularyOptions options{a.model, a.data.options.source, a.vocab_size};
  const bool learns = learns_vocabulary(options);
  if (!is_fresh(a.model)) {
    const SentenceEncoder encoder = read_sentence_encoder(find_model(a.model));
    const fs::path config = encoder.folder / "config.json";
    const ModelFacts facts = model_facts(read_json(config), config.string());
    return {.tokenizer = read_tokenizer(encoder, facts),
            .positions = facts.limits.tokens,
            .limit = encoder.limit,
            .source = fmt::format("those of {}", a.model)};
  }
  const ModelFacts facts = fresh_facts(a.model);
  const std::int64_t positions = facts.limits.tokens;
  if (const fs::path beside = folder_with_tokenizer(a.model); !beside.empty()) {
    const SentenceEncoder encoder{.folder = beside, .limit = read_sentence_encoder(beside).limit};
    return {read_tokenizer(encoder, facts), positions, encoder.limit,
            fmt::format("those beside {}", a.model)};
  }
  if (learns) data = split(std::move(data), {.validation_split = 0.1, .seed = a.run.seed}).source;
  if (std::optional<LearntVocabulary> learnt = learn_vocabulary(options, data.train, context))
    return {std::move(learnt->tokenizer), positions, std::nullopt,
            fmt::format("learnt from {} training texts as `hone train {}` learns them",
                        grouped(learnt->texts), a.model),
            learnt->texts};
  return {synthetic_tokenizer(), positions, std::nullopt, "those of the built-in data"};
}

std::vector<TokenView> views_of(const DataSet& data, const Tokenizer& tokenizer, std::size_t limit,
                                std::int64_t most) {
  std::vector<TokenView> views;
  for (const auto& [name, examples] :
       {std::pair{"train", &data.train}, {"validation", &data.validation}, {"test", &data.test}})
    for (std::int64_t i = 0; i < std::min(most, std::ssize(*examples)); ++i) {
      views.push_back(view_tokens(tokenizer, (*examples)[static_cast<std::size_t>(i)], limit));
      views.back().part = name;
      views.back().row = i + 1;
    }
  return views;
}

Json to_json(const std::vector<TokenView>& views) {
  Json rows = Json::array();
  for (const TokenView& view : views) rows.push_back(to_json(view));
  return rows;
}

void tokenize(const TokenizeArguments& a) {
  Context context = make_context(a.run);
  DataOptions options = a.data.options;
  options.labelled = false;
  if (const std::optional<TrainedOn> record = known_record(a.model))
    options.remembered = record->columns;
  const auto start = std::chrono::steady_clock::now();
  DataSet data = load_data_set(options, context.pool);
  const double read_seconds = seconds_since(start);
  tell_notes(context, data.notes);
  tell_warnings(context, data.warnings);
  const TokenizerOfModel model = open_tokenizer(a, data, context);
  tell_warnings(context, {length_warning(a.data.max_seq_length, model.positions)});

  const auto middle = std::chrono::steady_clock::now();
  const TextLimit limit = text_limit(a.data.max_seq_length, model.positions, model.limit);
  check_room(limit, model.tokenizer, /*pairs=*/false);
  std::vector<std::pair<std::string, EncodedSet>> sets;
  for (const auto& [name, examples] :
       {std::pair{"train", &data.train}, {"validation", &data.validation}, {"test", &data.test}}) {
    if (examples->empty()) continue;
    if (examples->front().text_pair) check_room(limit, model.tokenizer, /*pairs=*/true);
    sets.emplace_back(name,
                      encode_examples(context.pool, model.tokenizer, *examples, limit.tokens));
  }
  const double tokenize_seconds = seconds_since(middle);

  std::vector<TokenFacts> parts;
  for (const auto& [name, set] : sets)
    parts.push_back(facts_of(name, set, model.tokenizer, a.batch_size));
  const Table table = facts_table(parts);
  std::int64_t texts = 0;
  DataIdentity identity;
  identity.source = a.data.options.source;
  identity.hash = data.hash;
  for (const TokenFacts& part : parts) {
    texts += part.texts;
    identity.parts.push_back({.part = part.part, .rows = part.texts});
  }
  identity.rows = texts;
  const std::vector<TokenView> views = views_of(data, model.tokenizer, limit.tokens, a.texts);
  if (a.run.json)
    return print_result("tokenize", {{"model", a.model},
                                     {"data", to_json(identity)},
                                     {"vocabulary", to_json(model)},
                                     {"texts", to_json(views)},
                                     {"parts", to_json(table)},
                                     {"max_seq_length", limit.tokens},
                                     {"batch", a.batch_size},
                                     {"threads", context.pool.threads()},
                                     {"read_seconds", read_seconds},
                                     {"tokenize_seconds", tokenize_seconds}});
  print_text(a.run, "{}\n", to_text(table, text_style(a.run)));
  for (const TokenView& view : views)
    print_text(a.run, "{}\n", to_text(view, text_style(a.run).columns));
  print_text(
      a.run,
      "Vocabulary: {} tokens, {}.\n"
      "Padding: in batches of {}, shuffled, and grouped by length. At most {} tokens a text{}.\n"
      "Read in {:.2f} s, tokenized in {:.2f} s: {} texts/s on {} threads\n",
      grouped(model.tokenizer.vocabulary_size()), model.source, a.batch_size, limit.tokens,
      with_flags(reason(limit)), read_seconds, tokenize_seconds,
      grouped(
          static_cast<long long>(static_cast<double>(texts) / (read_seconds + tokenize_seconds))),
      context.pool.threads());
}

}  // namespace

Command tokenize_command() {
  return {"tokenize", "read a data set and show what it is as tokens",
          "hone tokenize my-model --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<TokenizeArguments>();
            app.add_option("MODEL", a->model, "model whose tokenizer is used, or tiny")->required();
            app.add_option("--data", a->data.options.source, kDataSources)->required();
            declare_texts(app, a->data);
            app.add_option("--batch_size,--batch", a->batch_size,
                           "texts per batch, for the share of padding")
                ->check(number_from(1));
            app.add_option("--texts", a->texts,
                           "first texts of each part to show with their tokens")
                ->check(number_from(0));
            declare_vocab_size(app, a->vocab_size);
            declare(app, a->run);
            return [a] { tokenize(*a); };
          }};
}

}  // namespace hone
