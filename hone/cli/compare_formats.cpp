#include "hone/jobs/compare_formats.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct CompareFormatsArguments {
  CompareFormatsJob job;
  std::vector<std::string> choices;
  CalibrationArguments calibration;
  RunArguments run;
};

void compare_formats(CompareFormatsArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  for (const std::string& text : a.choices)
    a.job.choices.push_back(
        value_of_flag("--candidate", [&] { return parse_choice(text, context.library.formats); }));
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("compare-formats", compare_formats(a.job, context), a.run);
}

Options options_of(const CompareFormatsArguments*) {
  using A = CompareFormatsArguments;
  return {model_argument<&A::job, &CompareFormatsJob::model>("model folder, not quantized"),
          option<&A::choices>("candidate", "a FORMAT or WEIGHTS/INPUTS to try; may be repeated")
              .repeated()
              .takes(kFormatPairValue),
          option<&A::job, &CompareFormatsJob::layers>("layers", "also show every layer"),
          split_option<&A::job, &CompareFormatsJob::split>(
              "split to measure the result on; by default test"),
          group<&A::job, &CompareFormatsJob::data>(training_data()),
          group<&A::calibration>(),
          group<&A::job, &CompareFormatsJob::output>(report_output()),
          group<&A::run>()};
}

}  // namespace

Command compare_formats_command() {
  return {.name = "compare-formats",
          .summary = "Evaluate a model in several number formats",
          .example =
              "hone compare-formats my-model --data 'synth:negation?seed=7&n=30000' --candidate "
              "'mxint(bits=8)' --candidate ternary/none",
          .run = runs<CompareFormatsArguments, compare_formats>()};
}

}  // namespace hone
