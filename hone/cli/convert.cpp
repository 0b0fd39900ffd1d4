#include "hone/jobs/convert.h"

#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct ConvertArguments {
  ConvertJob job;
  RunArguments run;
};

void convert(ConvertArguments& a) {
  print("convert", convert_model(a.job, make_context(a.run)), a.run);
}

Options options_of(const ConvertArguments*) {
  using A = ConvertArguments;
  return {model_argument<&A::job, &ConvertJob::model>(
              "model folder of any architecture, or a hub name"),
          group<&A::job, &ConvertJob::output>(), group<&A::run>(json_and_quiet())};
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .summary = "Convert the weights of a model folder to safetensors",
          .example = "hone convert old-model -o new-model",
          .run = runs<ConvertArguments, convert>(),
          .stage = {.writes_model = true}};
}

}  // namespace hone
