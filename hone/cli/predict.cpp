#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "hone/base/line_reader.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/jobs/prediction.h"
#include "hone/report/table.h"
#include "hone/study/result.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

constexpr std::string_view kStandardInput = "-";
enum class PredictionForm { table, json_lines, csv };

struct PredictArguments {
  std::string model;
  std::string text;
  std::string text_pair;
  bool pair = false;  // whether text_pair was given
  bool embed = false;
  std::string split;
  std::vector<std::string> fields;
  std::int64_t batch_size = 32;
  JobData data;
  std::string output;
  bool overwrite = false;
  RunArguments run;

  Question question() const { return embed ? Question::embedding : Question::label; }
  bool from_stream() const { return data.options.source.empty() && text == kStandardInput; }
  PredictionForm form() const {
    if (output.ends_with(".csv")) return PredictionForm::csv;
    return run.json || !output.empty() ? PredictionForm::json_lines : PredictionForm::table;
  }
};

void check(const PredictArguments& a) {
  if (a.text.empty() && a.data.options.source.empty())
    throw UsageError(
        "hone predict: give a text, - for standard input, or --data; see `hone predict --help`");
  if (a.from_stream() && a.pair)
    throw UsageError(
        "--text_pair: standard input has one text on each line; give pairs by --data and "
        "--text_pair_column");
  if (!a.fields.empty() && a.form() == PredictionForm::table)
    throw UsageError("--fields chooses what programs get; add --json or -o FILE");
  if (a.output.empty()) return;
  if (!a.output.ends_with(".csv") && !a.output.ends_with(".jsonl"))
    throw UsageError(
        fmt::format("-o: expected a file that ends in .jsonl or .csv, got '{}'", a.output));
  check_output_file(a.output, a.overwrite);
}

/// Texts in stretches, as they come; an empty one at the end.
using Source = std::function<std::vector<TextRow>()>;

// Lines as they are typed, or many at once from a file.
Source lines_of_standard_input(std::size_t most, bool strict) {
  auto reader = std::make_shared<LineReader>(STDIN_FILENO, "standard input");
  return [reader, most, strict, number = std::int64_t{0}]() mutable {
    std::vector<TextRow> rows;
    for (std::string& line : reader->next(most)) {
      ++number;
      if (strict) check_utf8(line, [&] { return fmt::format("standard input: line {}", number); });
      rows.push_back({.id = number, .text = std::move(line)});
    }
    return rows;
  };
}

// Short stretches first, so that there is something to see, then longer ones, which are faster.
Source stretches_of(std::vector<TextRow> rows, std::size_t first, std::size_t most) {
  auto all = std::make_shared<std::vector<TextRow>>(std::move(rows));
  return [all, most, size = first, begin = std::size_t{0}]() mutable {
    const std::size_t end = std::min(all->size(), begin + size);
    std::vector<TextRow> some(
        std::make_move_iterator(all->begin() + static_cast<std::ptrdiff_t>(begin)),
        std::make_move_iterator(all->begin() + static_cast<std::ptrdiff_t>(end)));
    begin = end;
    size = std::min(most, 2 * size);
    return some;
  };
}

/// A model with the question it is asked: which class texts are of, or their vectors.
class Asked {
 public:
  Asked(const PredictArguments& a, Context& context) {
    if (a.embed) {
      embedder_ = open_embedding_model(a.model, context, a.run.seed);
      return;
    }
    classifier_ = open_model(a.model, context, a.run.seed);
    check_has_head(*classifier_, a.model);
  }
  const TextModel& model() const { return embedder_ ? embedder_->source : *classifier_; }
  /// Those that the model tells apart; none without a head.
  std::vector<std::string> labels() const {
    return model().model.fresh_head ? std::vector<std::string>() : model().model.facts.labels;
  }
  const EmbeddingModel* embedder() const { return embedder_ ? &*embedder_ : nullptr; }
  TextLimit limit(const PredictArguments& a) const {
    return embedder_ ? text_limit(a.data.max_seq_length, *embedder_)
                     : text_limit(a.data.max_seq_length, *classifier_);
  }
  TextPredictor predictor(const PredictArguments& a, Context& context) const {
    return embedder_ ? TextPredictor(*embedder_, a.data.max_seq_length, a.batch_size, context)
                     : TextPredictor(*classifier_, a.data.max_seq_length, a.batch_size, context);
  }

 private:
  std::optional<TextModel> classifier_;
  std::optional<EmbeddingModel> embedder_;
};

// The first numbers of a vector, for people.
constexpr std::size_t kShownNumbers = 4;
std::string first_numbers(const std::vector<float>& vector) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownNumbers, vector.size()); ++i)
    text += fmt::format("{:>9.4f}", vector[i]);
  return text;
}
double norm(const std::vector<float>& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

/// Predictions as lines of text.
class Lines {
 public:
  /// `width`: of an embedding.
  Lines(const PredictArguments& a, const TextRows& rows, const Asked& asked, std::int64_t width)
      : form_(a.form()),
        pairs_(rows.pairs),
        labelled_(rows.labelled),
        numbered_(a.from_stream() || !a.data.options.source.empty()),
        chosen_(!a.fields.empty()),
        model_(a.model),
        data_(a.data.options.source),
        part_(rows.part),
        labels_(asked.model().model.facts.labels),
        embedder_(asked.embedder()),
        width_(width),
        fields_(choose_fields(a.fields, rows, a.question(), form_ == PredictionForm::csv)),
        columns_(text_style(a.run).columns) {
    for (const std::string& label : labels_)
      label_width_ = std::max(label_width_, character_count(shown_name(label)));
  }

  std::string header() const {
    if (form_ == PredictionForm::json_lines) return "";
    if (form_ == PredictionForm::csv) return csv_header(fields_);
    const std::string answer =
        embedder_ == nullptr
            ? label_cells("Label", "Probability")
            : vector_cells("Norm",
                           fmt::format("First {} of {} numbers",
                                       std::min<std::int64_t>(kShownNumbers, width_), width_));
    return table_line("Row", answer, "Gold", "Text", pairs_ ? "Second text" : "");
  }

  std::string line(const Prediction& p) const {
    if (form_ == PredictionForm::json_lines) {
      const Json fields = to_json(p, fields_, labels_);
      if (chosen_) return to_line(fields) + '\n';
      Json row = {{"model", model_}};
      if (!data_.empty()) row.update({{"data", {{"source", data_}}}, {"part", part_}});
      if (embedder_ != nullptr)
        row.update({{"pooling", to_string(embedder_->modules.pooling)},
                    {"normalized", embedder_->modules.normalize}});
      row.update(fields);
      return to_line(result_of("predict", row)) + '\n';
    }
    if (form_ == PredictionForm::csv) return to_csv(p, fields_, labels_);
    const std::string id = p.row.id.is_string() ? p.row.id.get<std::string>() : p.row.id.dump();
    const std::string answer =
        embedder_ == nullptr
            ? label_cells(p.label.value_or(prediction_name(kNoPrediction, labels_)),
                          p.score ? display_text(percent(*p.score)) : "–")
            : vector_cells(fmt::format("{:.4f}", norm(p.embedding)), first_numbers(p.embedding));
    return table_line(id, answer, p.row.gold.value_or("–"), p.row.text,
                      p.row.text_pair.value_or(""));
  }

 private:
  std::string label_cells(std::string_view label, std::string_view score) const {
    return fmt::format("{:<{}}  {:>11}  ", shown_name(label), label_width_, score);
  }
  static std::string vector_cells(std::string_view norm, std::string_view numbers) {
    return fmt::format("{:>9}  {:>36}  ", norm, numbers);
  }
  // The rows of a table that is printed while it grows: its widths are known before.
  std::string table_line(std::string_view id, std::string_view answer, std::string_view gold,
                         std::string_view text, std::string_view pair) const {
    constexpr std::size_t kShownCharacters = 100, kFewestColumns = 12;
    std::string line = numbered_ ? fmt::format("{:>6}  ", shown_name(id)) : "";
    line += answer;
    if (labelled_) line += fmt::format("{:<{}}  ", shown_name(gold), label_width_);
    // On a terminal the texts take what is left of the line, or a line below where that is next to nothing.
    constexpr std::string_view kBetween = "  |  ";
    const std::size_t between = pairs_ ? kBetween.size() : 0, texts = pairs_ ? 2 : 1;
    std::size_t before = display_width(line) + between;
    std::string start;
    if (columns_ > 0 && columns_ < before + texts * kFewestColumns) {
      start = "\n  ";
      before = 2 + between;
    }
    const auto shown = [&](std::string_view whole) {
      const std::string cut = one_line(whole, kShownCharacters);
      return columns_ == 0 ? cut
                           : shortened(cut, columns_ > before ? (columns_ - before) / texts : 1);
    };
    std::string shown_texts = shown(text);
    if (pairs_) shown_texts.append(kBetween) += shown(pair);
    return printable(line) + start + printable(shown_texts) + '\n';
  }

  PredictionForm form_;
  bool pairs_, labelled_, numbered_, chosen_;
  std::string model_, data_, part_;
  const std::vector<std::string>& labels_;
  const EmbeddingModel* embedder_;  ///< null: labels are asked for
  std::int64_t width_;
  std::vector<PredictionField> fields_;
  std::size_t columns_;  ///< of the terminal; 0: as long as it is
  std::size_t label_width_ = std::string_view("Label").size();
};

// Where lines go to.
using Sink = std::function<void(std::string_view)>;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_output();
}

void run_all(const Source& source, TextPredictor& predictor, const Lines& lines, const Sink& sink,
             Progress* progress) {
  sink(lines.header());
  for (std::vector<TextRow> rows = source(); !rows.empty(); rows = source()) {
    std::string text;
    for (const Prediction& prediction : predictor.predict(std::move(rows)))
      text += lines.line(prediction);
    sink(text);
    if (progress != nullptr) progress->update(predictor.texts);
  }
  if (progress != nullptr) progress->finish();
}

void predict(const PredictArguments& a) {
  // Who reads no further (`| head`) ends the program without a word, also where a parent process ignores this signal.
  ::signal(SIGPIPE, SIG_DFL);
  check(a);
  Context context = make_context(a.run);
  const Asked asked(a, context);
  const TextModel& model = asked.model();
  const auto first = static_cast<std::size_t>(a.batch_size), most = 32 * first;
  TextRows rows;
  Source source;
  if (!a.data.options.source.empty()) {
    rows = read_text_rows(a.data.options, a.split, asked.labels(), model.trained_on, context.pool);
    tell_notes(context, rows.notes);
    tell_warnings(context, rows.warnings);
  } else if (a.from_stream()) {
    source = lines_of_standard_input(most, a.data.options.strict);
    if (::isatty(STDIN_FILENO) == 1)
      tell_notes(context, {"a text on each line, answered as it comes; Ctrl-D ends"});
  } else {
    rows.pairs = a.pair;
    rows.rows = {
        {.id = 1, .text = a.text, .text_pair = a.pair ? std::optional(a.text_pair) : std::nullopt}};
  }
  if (rows.pairs) check_takes_pairs(model.model.facts.limits, model.tokenizer, asked.limit(a));
  tell_warnings(context, model.model.warnings);
  tell_warnings(context, {untrained_warning(model, a.model)});
  tell_warnings(context, {length_warning(a.data.max_seq_length, model.model.facts.limits.tokens)});
  if (asked.embedder() != nullptr) tell_notes(context, embedding_notes(*asked.embedder()));
  TextPredictor predictor = asked.predictor(a, context);
  const Lines lines(a, rows, asked, predictor.width());
  const auto total = std::ssize(rows.rows);
  if (!source) source = stretches_of(std::move(rows.rows), first, most);
  // Not between the lines of a table that somebody reads.
  const bool shown = total > 1 && (!a.output.empty() || ::isatty(STDOUT_FILENO) == 0);
  std::optional<Progress> progress;
  if (shown)
    progress.emplace("predict", total,
                     ProgressOptions{.unit = "texts", .output = context.progress});
  const auto run = [&](const Sink& sink) {
    run_all(source, predictor, lines, sink, progress ? &*progress : nullptr);
  };
  if (a.output.empty()) {
    run(print);
  } else {
    write_file(a.output, [&](const ByteSink& sink) {
      run([&](std::string_view text) { sink(std::as_bytes(std::span(text))); });
    });
    tell_notes(context, {fmt::format("{} {}{} written to {}", grouped(predictor.texts),
                                     a.embed ? "embedding" : "prediction",
                                     predictor.texts == 1 ? "" : "s", a.output)});
  }
  tell_warnings(context, predictor.warnings());
}

std::string field_names() {
  std::vector<std::string_view> names;
  for (const PredictionField& field : prediction_fields()) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Command predict_command() {
  return {
      "predict", "classify one text, or many, or give their embeddings",
      "hone predict my-model \"a film that is not bad\" --json",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<PredictArguments>();
        app.add_option("MODEL", a->model, "model folder")->required();
        auto* text = app.add_option("TEXT", a->text,
                                    "the text to classify; -: the lines of standard input, each "
                                    "answered as it comes");
        auto* data = app.add_option("--data", a->data.options.source,
                                    fmt::format("texts to classify instead: a .txt file, a text on "
                                                "each line, {}",
                                                kDataSources));
        data->excludes(text);
        auto* pair = app.add_option("--text_pair", a->text_pair, "the second text of a pair");
        pair->needs(text);
        app.add_flag(
            "--embed", a->embed,
            "the embedding of each text, a vector, instead of its class: the tokens pooled as "
            "the folder of sentence-transformers says, or their mean; texts are cut where "
            "it says, unless --max_seq_length does");
        declare_texts(app, a->data);
        app.add_option(
               "--label_column", a->data.options.label_column,
               "column or key of the gold label, to stand beside the prediction; by default "
               "label, or what it is usually called")
            ->needs(data);
        app.add_option(
               "--id_column", a->data.options.id_column,
               "column or key that tells rows apart; by default id, or the number of the line "
               "or row")
            ->needs(data);
        app.add_option(
               "--split", a->split,
               "part of the data: train, validation, test or all; by default test, or all of "
               "a single file. Of a file that the model was trained on, validation is what "
               "the training set aside")
            ->needs(data);
        app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->batch_size,
                       "texts per batch")
            ->check(number_from(1));
        app.add_option(
               "--fields", a->fields,
               fmt::format("what JSON and CSV tell of each text, by comma: {}; by default all "
                           "there is, in CSV without lists but for the embedding",
                           field_names()))
            ->allow_extra_args(false)
            ->delimiter(',');
        app.add_option("-o,--output", a->output,
                       "file to write, JSON lines (.jsonl) or CSV (.csv)");
        app.add_flag("--overwrite", a->overwrite, "replace the file if it exists");
        declare(app, a->run);
        return [a, pair] {
          a->pair = !pair->empty();
          predict(*a);
        };
      }};
}

}  // namespace hone
