#include "hone/jobs/quantize.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/native/quantize_native.h"

namespace hone {
namespace {

struct QuantizeArguments {
  QuantizeJob job;
  FormatArguments formats;
  std::string native;  ///< format of weights
  bool calibrated_inputs = false, keep_slower = false;
  bool no_smooth_scales = false, no_bias_correction = false;
  CalibrationArguments calibration;
  RunArguments run;
};

// Rejects flags that contradict --native or have no effect with it, and flags that need it.
void check_native(const QuantizeArguments& a, const CLI::App& app) {
  const auto refuse = [&](std::initializer_list<const char*> flags, std::string_view why) {
    for (const char* flag : flags)
      if (app.count(flag) > 0) throw UsageError(fmt::format("hone quantize: {} {}", flag, why));
  };
  if (a.native.empty()) {
    refuse({"--static", "--keep_slower", "--no_smooth_scales", "--no_bias_correction"},
           "needs --native FORMAT");
    if (!any_given(a.formats))
      throw UsageError("give --native FORMAT, --format FORMAT or --recipe FILE");
    return;
  }
  refuse({"--format", "--input_format", "--weight_format", "--bias_format", "--output_format",
          "--recipe", "--rule"},
         "and --native both set the formats; give one of them");
  refuse({"--qat"},
         "and --native exclude each other; train with --qat first, then use `hone pack`");
  // --resume is allowed: without training there is nothing to resume, and it starts again.
  refuse({"--seeds", "--explain"},
         "and --native exclude each other: --native trains nothing, and its report lists the cost "
         "of each layer");
}

QuantizeResult quantize_native(const QuantizeArguments& a, Context& context) {
  NativeQuantizeJob job{
      .model = a.job.model,
      .weight = value_of_flag("--native",
                              [&] { return parse_format(a.native, context.library.formats); }),
      .input_scales = a.calibrated_inputs ? InputScales::calibrated : InputScales::dynamic,
      .keep_slower = a.keep_slower,
      .methods = {.smooth_scales = !a.no_smooth_scales, .bias_correction = !a.no_bias_correction},
      .gates = a.job.gates,
      .calibration = a.job.calibration,
      .split = a.job.split,
      .data = a.job.data,
      .eval_batch_size = a.job.training.eval_batch_size,
      .seed = a.job.seed,
      .row_hashes = a.job.row_hashes,
      .output = a.job.output,
      .invocation = a.job.invocation};
  value_of_flag("--native", [&] {
    return native_input(job.weight, context.library.formats, job.input_scales);
  });
  return quantize_native_job(job, context);
}

void quantize(QuantizeArguments& a, const CLI::App& app) {
  check_native(a, app);
  Context context = make_context(a.run);
  if (a.native.empty()) a.job.recipe = recipe_from(a.formats, context.library.formats);
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("quantize", a.native.empty() ? quantize_job(a.job, context) : quantize_native(a, context),
        a.run);
}

Options options_of(const QuantizeArguments*) {
  using A = QuantizeArguments;
  return {model_argument<&A::job, &QuantizeJob::model>(
              "model folder; layers already quantized are kept"),
          group<&A::formats>(),
          option<&A::native>("native", "compute in a format, such as int(bits=8,per=row)")
              .takes(kFormatValue),
          option<&A::calibrated_inputs>(
              "static", "native int: one calibrated scale per input instead of per token")
              .rare(),
          option<&A::keep_slower>("keep_slower",
                                  "native: keep layers quantized even if they are slower here")
              .rare(),
          option<&A::no_smooth_scales>("no_smooth_scales",
                                       "native: do not move large input channels into the weights")
              .rare(),
          option<&A::no_bias_correction>("no_bias_correction",
                                         "native: do not correct biases for rounding errors")
              .rare(),
          option<&A::job, &QuantizeJob::explain>(
              "explain", "always explain which layers cost accuracy and what helps")
              .rare(),
          option<&A::job, &QuantizeJob::qat>("qat", "quantization-aware training"),
          group<&A::job, &QuantizeJob::gates>(gate_options("; native: needs a test split")),
          group<&A::calibration>(),
          split_option<&A::job, &QuantizeJob::split>("split to measure on; by default test"),
          group<&A::job, &QuantizeJob::data>(training_data()),
          group<&A::job, &QuantizeJob::training>(),
          group<&A::job, &QuantizeJob::distill>(),
          report_to_option<&A::job, &QuantizeJob::report_to>(),
          group<&A::job, &QuantizeJob::resume>(),
          row_hashes_option<&A::job, &QuantizeJob::row_hashes>(),
          seeds_option<&A::job, &QuantizeJob::seeds>(),
          group<&A::job, &QuantizeJob::output>(),
          group<&A::run>(),
          group<&A::run>(executor_option())};
}

}  // namespace

Command quantize_command() {
  return {.name = "quantize",
          .summary = "Quantize a model, with or without training",
          .example =
              "hone quantize my-model --native 'int(bits=8,per=row)' --data "
              "'synth:negation?seed=7&n=30000' -o my-model-int8",
          .run = runs<QuantizeArguments, quantize>(),
          .stage = {.evaluates = StageKind::Evaluates::before_and_after,
                    .writes_model = true,
                    .stores_unrounded = true}};
}

}  // namespace hone
