#include "hone/jobs/predict.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"
#include "hone/data/labelled_file.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/prediction_lines.h"

namespace hone {
namespace {

constexpr std::string_view kStandardInput = "-";

struct PredictArguments {
  PredictJob job;
  std::vector<std::string> texts, text_pairs;  ///< may be empty texts
  bool embed = false;
  RunArguments run;

  bool from_stream() const {
    return job.data.source.empty() &&
           texts == std::vector<std::string>{std::string(kStandardInput)};
  }
};

void check(const PredictArguments& a) {
  const std::string& output = a.job.output;
  if (a.texts.empty() && a.job.data.source.empty())
    throw UsageError(
        "hone predict: give texts, - for standard input, or --data; see `hone predict --help`");
  if (a.from_stream() && !a.text_pairs.empty())
    throw UsageError(
        "--text_pair: standard input has one text on each line; give pairs by --data and "
        "--text_pair_column");
  const std::string encoding = lower_ascii(a.job.data.form.encoding);
  if (!encoding.empty() && a.job.data.source.empty() && !a.from_stream())
    throw UsageError(
        "--encoding applies to files and standard input; texts in arguments are UTF-8");
  if (a.from_stream() && (encoding.starts_with("utf-16") || encoding.starts_with("utf-32")))
    throw UsageError(fmt::format(
        "--encoding: hone cannot find the lines of standard input in {}; convert it with "
        "`iconv -f {} -t UTF-8`",
        a.job.data.form.encoding, a.job.data.form.encoding));
  if (!a.text_pairs.empty() && a.text_pairs.size() != a.texts.size())
    throw UsageError(
        fmt::format("--text_pair: {} for {}; give one for each text, in the same order",
                    a.text_pairs.size() == 1 ? "one second text"
                                             : fmt::format("{} second texts", a.text_pairs.size()),
                    a.texts.size() == 1 ? "one text" : fmt::format("{} texts", a.texts.size())));
  if (!a.job.fields.empty() && !a.run.json && output.empty())
    throw UsageError("--fields selects fields of --json and --output FILE; add one of them");
  if (!output.empty() && !form_of_file(output))
    throw UsageError(
        fmt::format("--output: expected a file that ends in .jsonl or .csv, got '{}'", output));
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_output();
}

// Returns a sink that prints predictions as they arrive.
PredictionSink printer(const PredictArguments& a, const PredictionSubject& subject) {
  const PredictionForm form = a.run.json ? PredictionForm::json_lines : PredictionForm::table;
  const PredictionLines lines(form, subject, a.job.fields, text_style(a.run));
  print(lines.header());
  return [lines](const std::vector<Prediction>& some) { print(lines.lines(some)); };
}

// Returns a note about a text that looks like a file's name: the prediction would be for the name.
std::string file_note(const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    if (!text_file_ending(text).empty() &&
        (path_exists(text) || text.find_first_of(" \t\n") == std::string::npos))
      return fmt::format("'{0}' is used as a text; use `--data {0}` to read texts from the file",
                         shown_name(text));
  return "";
}

std::vector<TextRow> given_texts(const PredictArguments& a) {
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    TextRow& row = rows.emplace_back();
    row.id = i + 1;
    row.text = a.texts[i];
    if (!a.text_pairs.empty()) row.text_pair = a.text_pairs[i];
  }
  return rows;
}

void predict(PredictArguments& a) {
  // A closed pipe (`| head`) ends the program silently, even if a parent process ignores this signal.
  ::signal(SIGPIPE, SIG_DFL);
  check(a);
  Context context = make_context(a.run);
  a.job.kind = a.embed ? PredictionKind::embedding : PredictionKind::label;
  a.job.seed = a.run.seed;
  const bool is_read = a.job.output.empty() && ::isatty(STDOUT_FILENO) == 1;
  a.job.progress = !is_read;
  if (a.from_stream()) {
    a.job.stream =
        read_lines(STDIN_FILENO, "standard input", a.job.data.form.encoding, a.job.data.strict);
  } else if (a.job.data.source.empty()) {
    a.job.texts = given_texts(a);
    if (const std::string note = file_note(a.texts); !note.empty()) print_notes(context, {note});
  }
  a.job.open_sink = [&](const PredictionSubject& subject) { return printer(a, subject); };
  predict_texts(a.job, context);
}

std::string field_names() {
  std::vector<std::string_view> names;
  for (const PredictionField& field : prediction_fields()) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Options options_of(const PredictArguments*) {
  using A = PredictArguments;
  Options of_data = {Heading::data,
                     {group<&A::job, &PredictJob::data>(), group<&A::job, &PredictJob::cut>(),
                      group<&A::job, &PredictJob::data>(label_map_option())}};
  for (const char* name : {"text_column", "text_pair_column", "label_column", "no_header",
                           "quoting", "json_field", "label_map"})
    of_data.at(name).needs = "data";
  return {model_argument<&A::job, &PredictJob::model>("model folder"),
          adapter_option<&A::job, &PredictJob::adapter>(),
          argument<&A::texts>("TEXT", "texts to classify; -: lines of standard input"),
          option<&A::job, &PredictJob::data, &DataOptions::source>(
              "data", "texts from a file or folder instead")
              .takes(kDataValue)
              .excluding("TEXT")
              .under(Heading::data),
          option<&A::text_pairs>("text_pair", "second text of each pair, in order")
              .repeated()
              .needing("TEXT"),
          option<&A::embed>("embed", "print embeddings instead of classes"),
          of_data,
          option<&A::job, &PredictJob::data, &DataOptions::id_column>(
              "id_column", "column that identifies rows; by default id, or the row number")
              .shown("COLUMN")
              .needing("data")
              .rare(),
          split_option<&A::job, &PredictJob::split>("split to classify; by default test")
              .needing("data"),
          eval_batch_option<&A::job, &PredictJob::batch_size>(),
          option<&A::job, &PredictJob::fields>(
              "fields", fmt::format("fields to write: {}; by default all", field_names()))
              .accepted_by(find_prediction_field)
              .separated()
              .shown("LIST")
              .rare(),
          option<&A::job, &PredictJob::output>("o,output", "file to write: .jsonl or .csv")
              .takes(kWrittenFileValue)
              .under(Heading::output),
          overwrite_option<&A::job, &PredictJob::overwrite>("replace the file"),
          group<&A::run>(),
          group<&A::run>(executor_option())};
}

}  // namespace

Command predict_command() {
  return {.name = "predict",
          .summary = "Predict labels, numbers or embeddings",
          .example = "hone predict my-model \"a film that is not bad\" --json",
          .run = runs<PredictArguments, predict>()};
}

}  // namespace hone
