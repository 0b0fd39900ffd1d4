#include "hone/jobs/kernels.h"

#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct KernelsArguments {
  KernelsJob job;
  RunArguments run;
};

// Returns "cuda" for cuda:1; "" without --device.
std::string device_kind(const KernelsArguments& a, const CLI::App& app) {
  return app.count("--device") == 0 ? "" : a.run.device.substr(0, a.run.device.find(':'));
}

void print_all(const KernelsArguments& a, const CLI::App& app) {
  for (const char* option : {"--train", "--precision"})
    if (app.count(option) > 0)
      throw UsageError(fmt::format("hone kernels: {} needs a MODEL; give it too", option));
  // Kernels are listed even without their device.
  RunArguments here = a.run;
  here.device = "cpu";
  const Context context = make_context(here);
  print("kernels", list_kernels(context.library, device_kind(a, app)), a.run);
}

void print_kernels(KernelsArguments& a, const CLI::App& app) {
  if (a.job.model.empty()) return print_all(a, app);
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  print("kernels", kernels_of_model(a.job, context), a.run);
}

Options options_of(const KernelsArguments*) {
  using A = KernelsArguments;
  return {argument<&A::job, &KernelsJob::model>(
              "MODEL", "model whose operations to show with their kernels; by default all kernels")
              .takes(kModelValue),
          option<&A::job, &KernelsJob::train>("train", "of a training step instead of inference"),
          group<&A::run>()};
}

}  // namespace

Command kernels_command() {
  return {.name = "kernels",
          .summary = "List the kernels, and those that a model uses",
          .example = "hone kernels tiny --train",
          .run = runs<KernelsArguments, print_kernels>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
