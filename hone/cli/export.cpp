#include "hone/jobs/export.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/onnx/onnx_model.h"

namespace hone {
namespace {

constexpr const char *kOnnx = "onnx", *kCompressedTensors = "compressed-tensors";

struct ExportArguments {
  ExportJob job;
  std::string target = kOnnx, dtype = "fp32";
  std::vector<const CLI::Option*> of_onnx = {};
  RunArguments run;
};

// Declares options that no other target has.
template <typename Declare>
void declare_for_onnx(CLI::App& app, ExportArguments& a, Declare&& declare) {
  const std::vector<CLI::Option*> before = app.get_options();
  declare();
  for (const CLI::Option* option : app.get_options())
    if (std::ranges::find(before, option) == before.end()) a.of_onnx.push_back(option);
}

// Options that would do nothing are refused.
void refuse_options_of_onnx(const ExportArguments& a) {
  if (a.target == kOnnx) return;
  for (const CLI::Option* option : a.of_onnx)
    if (option->count() > 0)
      throw UsageError(fmt::format("--{} is for `--to {}`; leave it out with `--to {}`",
                                   argument_name(*option), kOnnx, a.target));
}

void run_export(ExportArguments& a, const CLI::App& app) {
  refuse_options_of_onnx(a);
  a.job.target = a.target == kOnnx ? ExportTarget::onnx : ExportTarget::compressed_tensors;
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.dtype = a.dtype == "bf16" ? DType::bf16 : a.dtype == "fp16" ? DType::f16 : DType::f32;
  a.job.invocation = invocation_of(app);
  print("export", export_model(a.job, context), a.run);
}

}  // namespace

Command export_command() {
  return {"export", "Write a model for ONNX Runtime, transformers or vLLM",
          "hone export my-model --to onnx -o my-model-onnx",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ExportArguments>();
            a->job.opset = kUsualOpset;
            app.add_option("MODEL", a->job.model, "model folder")->required();
            app.add_option("--to", a->target, "file format")
                ->check(one_of({kOnnx, kCompressedTensors}));
            declare_adapter(app, a->job.adapter);
            app.add_flag("--embed", a->job.embed, "export embeddings instead of classes");
            declare_for_onnx(app, *a, [&] {
              app.add_option("--opset", a->job.opset, "version of ONNX's operators")
                  ->check(number_from(kOldestOpset, kNewestOpset + 1));
              app.add_option("--dtype", a->dtype, "type that ONNX stores unquantized weights in")
                  ->check(one_of({"fp32", "fp16", "bf16"}));
              app.add_option("--check", a->job.check.data.source,
                             "data to compare ONNX Runtime's outputs on");
              declare_texts(app, a->job.check.data, a->job.check.cut);
              declare_split(app, a->job.check.split, "split to compare on; by default test");
              app.add_option("--per_device_eval_batch_size,--batch_size", a->job.check.batch_size,
                             "examples per batch of the check")
                  ->check(number_from(1));
            });
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { run_export(*a, app); };
          }};
}

}  // namespace hone
