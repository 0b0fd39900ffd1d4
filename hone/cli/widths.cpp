#include "hone/app/width_study.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  std::string widths = "4.2,6.3,8.4,12.6,16.8,24.12,32.16";
  std::string split;
  DataArguments data;
  TrainingArguments training;
  OutputArguments output;
  RunArguments run;
};

// "8.4" is 8 bits, 4 of them behind the binary point.
FixedPointWidth parse_width(const std::string& text) {
  FixedPointWidth width;
  int read = 0;
  const int found = std::sscanf(text.c_str(), "%ld.%ld%n", &width.width, &width.frac, &read);
  user_check(found == 2 && static_cast<std::size_t>(read) == text.size(),
             "--widths: expected width.fraction, e.g. 8.4, got '{}'", text);
  return width;
}

void study(Arguments& a) {
  Context context = make_context(a.run);
  WidthStudyOptions options{.widths = {}, .qat = a.training.options};
  options.qat.training.seed = a.run.seed;
  for (const std::string& text : split(a.widths, ','))
    options.widths.push_back(parse_width(std::string(trim(text))));
  user_check(!options.widths.empty(), "--widths: expected width.fraction, e.g. 8.4, got ''");
  OutputFolder output(a.output.folder, a.output.overwrite);
  const TextModel source = open_model(a.model, context, a.run.seed);
  check_unquantized(source.model);
  const EncodedSplits data = load_encoded(source, a.model, a.data, a.split, a.run.seed, context);
  const std::int32_t pad_id = source.tokenizer.pad_id();
  const Measurement parent =
      measure(source.model, data.test, pad_id, options.qat.eval_batch_size, context, "fp32");
  const std::vector<WidthResult> results =
      study_widths(source.model, parent, data, pad_id, options, context);
  const Table table = width_table(results, parent);
  write_table(table, output.path() / "results");
  draw_width_study(results, parent, output.path() / "fixed_point");
  output.commit();
  if (a.run.json) return fmt::print("{}\n", to_line({{"models", to_json(table)}, {"seeds", 1}}));
  fmt::print("{}\nOne seed; table and figure in {}\n", to_text(table), a.output.folder);
}

}  // namespace

Command widths_command() {
  return {"widths",
          "accuracy and flips against the width of fixed point, PTQ and QAT, with a figure",
          "hone widths my-model --data 'synth:negation?seed=7&n=30000' --epochs 1 -o widths",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            app.add_option("MODEL", a->model, "model folder")->required();
            app.add_option("--widths", a->widths, "width.fraction in bits, by comma");
            app.add_option("--split", a->split, "part to measure on: train, validation or test");
            declare(app, a->data, /*required=*/true);
            declare(app, a->training);
            declare(app, a->output);
            declare(app, a->run);
            return [a] { study(*a); };
          }};
}

}  // namespace hone
