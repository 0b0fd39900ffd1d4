#include "hone/jobs/kernels.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
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

void list_kernels(const KernelsArguments& a, const CLI::App& app) {
  for (const char* option : {"--train", "--precision"})
    if (app.count(option) > 0)
      throw UsageError(fmt::format("hone kernels: {} is of a model; give --model, too", option));
  // Kernels are listed whether their device is there or not.
  RunArguments here = a.run;
  here.device = "cpu";
  const Context context = make_context(here);
  const Table table = kernel_table(context.library, device_kind(a, app));
  if (a.run.json) return print_result("kernels", {{"kernels", to_json(table)}});
  print_text(a.run,
             "{}\nOf the rows of an operation the first that accepts a node runs it; `hone kernels "
             "--model MODEL` tells which, and why others did not.\n",
             to_text(table, text_style(a.run)));
}

void tell_kernels(KernelsArguments& a, const CLI::App& app) {
  if (a.job.model.empty()) return list_kernels(a, app);
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  const KernelsResult result = kernels_of_model(a.job, context);
  if (a.run.json) return print_result("kernels", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command kernels_command() {
  return {"kernels", "List the kernels, and those that a model uses",
          "hone kernels --model tiny --train", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<KernelsArguments>();
            app.add_option("--model", a->job.model, "show the kernel of each operation of a model");
            app.add_flag("--train", a->job.train, "of a training step instead of inference");
            declare(app, a->run);
            declare_device(app, a->run);
            return [a, &app] { tell_kernels(*a, app); };
          }};
}

}  // namespace hone
