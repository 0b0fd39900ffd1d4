#include "hone/jobs/pack.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct PackArguments {
  PackJob job;
  FormatArguments formats;
  RunArguments run;
};

void pack(PackArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  if (any_given(a.formats)) a.job.recipe = recipe_from(a.formats, context.library.formats);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("pack", pack_model(a.job, context), a.run);
}

struct UnpackArguments {
  UnpackJob job;
  std::string loadable;
  RunArguments run;
};

void unpack(UnpackArguments& a, const CLI::App& app) {
  a.job.invocation = invocation_of(app);
  a.job.loadable = !a.loadable.empty();
  Context context = make_context(a.run);
  print("unpack", unpack_model(a.job, context), a.run);
}

Options options_of(const PackArguments*) {
  using A = PackArguments;
  return {model_argument<&A::job, &PackJob::model>(
              "model folder, quantized or with formats given here"),
          group<&A::formats>(), group<&A::job, &PackJob::output>(), group<&A::run>(host_options())};
}

Options options_of(const UnpackArguments*) {
  using A = UnpackArguments;
  return {model_argument<&A::job, &UnpackJob::model>("folder written by `hone pack`"),
          option<&A::loadable>("loadable", "write plain fp32 weights that transformers loads")
              .one_of({"transformers"}),
          group<&A::job, &UnpackJob::output>(), group<&A::run>(host_options())};
}

}  // namespace

Command pack_command() {
  return {.name = "pack",
          .summary = "Store the weights of a quantized model in few bits",
          .example = "hone pack my-model --weight_format 'int(bits=8,per=row)' -o my-model-packed",
          .run = runs<PackArguments, pack>(),
          .stage = {.writes_model = true}};
}

Command unpack_command() {
  return {.name = "unpack",
          .summary = "Store the weights of a packed model in fp32",
          .example = "hone unpack my-model-packed -o my-model-dense",
          .run = runs<UnpackArguments, unpack>(),
          .stage = {.writes_model = true}};
}

}  // namespace hone
