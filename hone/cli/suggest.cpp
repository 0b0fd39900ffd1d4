#include "hone/jobs/suggest.h"

#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct SuggestArguments {
  SuggestJob job;
  std::string format;
  CalibrationArguments calibration;
  RunArguments run;
};

void suggest(SuggestArguments& a) {
  Context context = make_context(a.run);
  a.job.format =
      value_of_flag("--format", [&] { return parse_format(a.format, context.library.formats); });
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  print("suggest", suggest_formats(a.job, context), a.run);
}

Options options_of(const SuggestArguments*) {
  using A = SuggestArguments;
  return {
      model_argument<&A::job, &SuggestJob::model>("model folder, not quantized"),
      option<&A::format>("format", "format of all operands to start from")
          .required()
          .takes(kFormatValue),
      option<&A::job, &SuggestJob::bits>("bits", "maximum bits per value (0: those of --format)")
          .from(0)
          .rare(),
      option<&A::job, &SuggestJob::recipe>("output,o", "recipe file to write")
          .takes(kWrittenFileValue)
          .under(Heading::output),
      overwrite_option<&A::job, &SuggestJob::overwrite>("replace the file"),
      split_option<&A::job, &SuggestJob::split>("split to measure the result on; by default test"),
      group<&A::job, &SuggestJob::data>(training_data()),
      group<&A::calibration>(),
      group<&A::run>()};
}

}  // namespace

Command suggest_command() {
  return {.name = "suggest",
          .summary = "Fit the parameters of one format to each layer",
          .example =
              "hone suggest my-model --format 'integer(width=6,frac=3)' --data "
              "'synth:negation?seed=7&n=30000' -o recipe.toml",
          .run = runs<SuggestArguments, suggest>()};
}

}  // namespace hone
