#include "hone/jobs/convert.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct ConvertArguments {
  ConvertJob job;
  bool json = false, quiet = false;
};

void convert(ConvertArguments& a) {
  RunArguments run;  // the command supports only these two of them
  run.quiet = a.quiet;
  run.json = a.json;
  print("convert", convert_model(a.job, make_context(run)), run);
}

Options options_of(const ConvertArguments*) {
  using A = ConvertArguments;
  return {model_argument<&A::job, &ConvertJob::model>(
              "model folder of any architecture, or a hub name"),
          group<&A::job, &ConvertJob::output>(),
          option<&A::json>("json", "print the result as JSON").under(Heading::output),
          option<&A::quiet>("quiet", "do not show progress").under(Heading::output).rare()};
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .summary = "Convert the weights of a model folder to safetensors",
          .example = "hone convert old-model -o new-model",
          .run = runs<ConvertArguments, convert>(),
          .stage = {.leaves_model = true}};
}

}  // namespace hone
