#include "hone/jobs/widths.h"

#include <cstdio>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct WidthsArguments {
  WidthsJob job;
  std::string widths = "4.2,6.3,8.4,12.6,16.8,24.12,32.16";
  RunArguments run;
};

// "8.4" means 8 bits, 4 of them after the binary point.
FixedPointWidth parse_width(const std::string& text) {
  FixedPointWidth width;
  int read = 0;
  const int found = std::sscanf(text.c_str(), "%ld.%ld%n", &width.width, &width.frac, &read);
  user_check(found == 2 && static_cast<std::size_t>(read) == text.size(),
             "--widths: expected width.fraction, e.g. 8.4, got '{}'", text);
  return width;
}

void study(WidthsArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  for (const std::string& text : split(a.widths, ','))
    a.job.widths.push_back(parse_width(std::string(trim(text))));
  user_check(!a.job.widths.empty(), "--widths: expected width.fraction, e.g. 8.4, got ''");
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("widths", study_widths(a.job, context), a.run);
}

Options options_of(const WidthsArguments*) {
  using A = WidthsArguments;
  return {
      model_argument<&A::job, &WidthsJob::model>("model folder"),
      option<&A::widths>("widths", "width.fraction in bits; by default 4.2 to 32.16").shown("LIST"),
      split_option<&A::job, &WidthsJob::split>("split to measure the result on; by default test"),
      group<&A::job, &WidthsJob::data>(training_data()),
      group<&A::job, &WidthsJob::training>(),
      group<&A::job, &WidthsJob::resume>(),
      group<&A::job, &WidthsJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command widths_command() {
  return {.name = "widths",
          .summary = "Measure and plot accuracy at several fixed-point bit widths",
          .example =
              "hone widths my-model --widths 6.3,8.4 --max_steps 200 --batch_size 64 --lr 2e-4 "
              "--data 'synth:negation?seed=7&n=30000' -o widths",
          .run = runs<WidthsArguments, study>()};
}

}  // namespace hone
