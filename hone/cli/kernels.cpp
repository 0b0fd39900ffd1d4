#include "hone/jobs/kernels.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct KernelsArguments {
  KernelsJob job;
  RunArguments run;
};

// "cuda" of cuda:1; empty: no device was asked for.
std::string device_kind(const KernelsArguments& a, const CLI::App& app) {
  return app.count("--device") == 0 ? "" : a.run.device.substr(0, a.run.device.find(':'));
}

void print_all(const KernelsArguments& a, const CLI::App& app) {
  for (const char* option : {"--train", "--precision"})
    if (app.count(option) > 0)
      throw UsageError(fmt::format("hone kernels: {} needs --model; give it too", option));
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

}  // namespace

Command kernels_command() {
  return {"kernels",
          "List the kernels, and those that a model uses",
          "hone kernels --model tiny --train",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<KernelsArguments>();
            app.add_option("--model", a->job.model, "show the kernel of each operation of a model");
            app.add_flag("--train", a->job.train, "of a training step instead of inference");
            declare(app, a->run);
            declare_device(app, a->run);
            return [a, &app] { print_kernels(*a, app); };
          },
          {.allowed = false}};
}

}  // namespace hone
