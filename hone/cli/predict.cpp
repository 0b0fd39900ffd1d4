#include "hone/jobs/predict.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
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

// Prints predictions as they come.
PredictionSink printer(const PredictArguments& a, const PredictionSubject& subject) {
  const PredictionForm form = a.run.json ? PredictionForm::json_lines : PredictionForm::table;
  const PredictionLines lines(form, subject, a.job.fields, text_style(a.run));
  print(lines.header());
  return [lines](const std::vector<Prediction>& some) { print(lines.lines(some)); };
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
  // Who reads no further (`| head`) ends the program without a word, also where a parent process ignores this signal.
  ::signal(SIGPIPE, SIG_DFL);
  check(a);
  Context context = make_context(a.run);
  a.job.question = a.embed ? Question::embedding : Question::label;
  a.job.seed = a.run.seed;
  const bool is_read = a.job.output.empty() && ::isatty(STDOUT_FILENO) == 1;
  a.job.progress = !is_read;
  if (a.from_stream()) {
    a.job.stream =
        read_lines(STDIN_FILENO, "standard input", a.job.data.form.encoding, a.job.data.strict);
  } else if (a.job.data.source.empty()) {
    a.job.texts = given_texts(a);
  }
  a.job.reader = [&](const PredictionSubject& subject) { return printer(a, subject); };
  predict_texts(a.job, context);
}

std::string field_names() {
  std::vector<std::string_view> names;
  for (const PredictionField& field : prediction_fields()) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Command predict_command() {
  return {"predict", "Predict labels, numbers or embeddings",
          "hone predict my-model \"a film that is not bad\" --json",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<PredictArguments>();
            app.add_option("MODEL", a->job.model, "model folder")->required();
            declare_adapter(app, a->job.adapter);
            auto* text =
                app.add_option("TEXT", a->texts, "texts to classify; -: lines of standard input");
            auto* data =
                app.add_option("--data", a->job.data.source, "texts from a file or folder instead");
            data->excludes(text);
            app.add_option("--text_pair", a->text_pairs, "second text of each pair, in order")
                ->allow_extra_args(false)
                ->needs(text);
            app.add_flag("--embed", a->embed, "print embeddings instead of classes");
            declare_texts(app, a->job.data, a->job.cut);
            declare_label_map(app, a->job.data);
            for (const char* name : {"--text_column", "--text_pair_column", "--label_column",
                                     "--no_header", "--quoting", "--json_field", "--label_map"})
              app.get_option(name)->needs(data);
            app.add_option("--id_column", a->job.data.id_column,
                           "column that identifies rows; by default id, or the row number")
                ->needs(data);
            declare_split(app, a->job.split, "split to classify; by default test")->needs(data);
            app.add_option("--per_device_eval_batch_size,--batch_size", a->job.batch_size,
                           "examples per evaluation batch")
                ->check(number_from(1));
            app.add_option("--fields", a->job.fields,
                           fmt::format("fields to write: {}; by default all", field_names()))
                ->check(accepted_by(find_prediction_field))
                ->allow_extra_args(false)
                ->delimiter(',');
            app.add_option("-o,--output", a->job.output, "file to write: .jsonl or .csv");
            app.add_flag("--overwrite", a->job.overwrite, "replace the file");
            declare(app, a->run);
            declare_device_and_executor(app, a->run);
            return [a] { predict(*a); };
          }};
}

}  // namespace hone
