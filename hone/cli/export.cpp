#include "hone/jobs/export.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/job_data.h"
#include "hone/onnx/onnx_model.h"

namespace hone {
namespace {

constexpr const char *kOnnx = "onnx", *kCompressedTensors = "compressed-tensors";

struct ExportArguments {
  ExportJob job;
  std::string target = kOnnx, dtype = "fp32";
  RunArguments run;
};

// Options that only ONNX has.
Options options_of_onnx() {
  using A = ExportArguments;
  using Check = decltype(ExportJob::check);
  return {option<&A::job, &ExportJob::opset>("opset", "version of ONNX's operators")
              .from(kOldestOpset, kNewestOpset + 1)
              .rare(),
          option<&A::dtype>("dtype", "type that ONNX stores unquantized weights in")
              .one_of({"fp32", "fp16", "bf16"})
              .rare(),
          option<&A::job, &ExportJob::check, &Check::data, &DataOptions::source>(
              "check", "data to compare ONNX Runtime's outputs on")
              .takes(kDataValue),
          group<&A::job, &ExportJob::check, &Check::data>(),
          group<&A::job, &ExportJob::check, &Check::cut>(),
          split_option<&A::job, &ExportJob::check, &Check::split>(
              "split to compare on; by default test"),
          eval_batch_option<&A::job, &ExportJob::check, &Check::batch_size>(
              "examples per batch of the check")};
}

// Rejects options that would have no effect.
void refuse_options_of_onnx(const ExportArguments& a, const CLI::App& app) {
  if (a.target == kOnnx) return;
  for (const OptionDef& row : options_of_onnx().rows)
    if (app.count("--" + row.name()) > 0)
      throw UsageError(fmt::format("--{} is for `--to {}`; leave it out with `--to {}`", row.name(),
                                   kOnnx, a.target));
}

void run_export(ExportArguments& a, const CLI::App& app) {
  refuse_options_of_onnx(a, app);
  a.job.target = a.target == kOnnx ? ExportTarget::onnx : ExportTarget::compressed_tensors;
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.dtype = a.dtype == "bf16" ? DType::bf16 : a.dtype == "fp16" ? DType::f16 : DType::f32;
  a.job.invocation = invocation_of(app);
  const JobResult result = export_model(a.job, context);
  print("export", result, a.run);
  if (const Json& reason = result.fields.at("check_reason"); reason.is_string())
    throw UserError(fmt::format("--check did not run: {}. The model is written to {}",
                                reason.get<std::string>(), a.job.output.folder));
}

Options options_of(const ExportArguments*) {
  using A = ExportArguments;
  return {model_argument<&A::job, &ExportJob::model>("model folder"),
          option<&A::target>("to", "file format").one_of({kOnnx, kCompressedTensors}).rare(),
          adapter_option<&A::job, &ExportJob::adapter>(),
          option<&A::job, &ExportJob::embed>("embed", "export embeddings instead of classes"),
          options_of_onnx(),
          group<&A::job, &ExportJob::output>(),
          group<&A::run>(host_options())};
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "Write a model for ONNX Runtime, transformers or vLLM",
          .example = "hone export my-model --to onnx -o my-model-onnx",
          .run = runs<ExportArguments, run_export>()};
}

}  // namespace hone
