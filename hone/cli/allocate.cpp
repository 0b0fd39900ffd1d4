#include "hone/jobs/allocation/allocate.h"

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct AllocateArguments {
  AllocateJob job;
  std::string options;
  SparsityTexts sparsities;
  bool no_cache = false;
  std::vector<std::string> operands = {"input", "weight", "bias"};
  std::vector<std::string> budgets;
  CalibrationArguments calibration;
  RunArguments run;
};

void allocate(AllocateArguments& a, const CLI::App& app) {
  if (a.options.empty() && a.sparsities.shares.empty())
    throw UsageError("give --formats, --sparsities, or both: the options of each linear layer");
  Context context = make_context(a.run);
  const std::vector<Operand> operands =
      value_of_flag("--operands", [&] { return parse_operands(a.operands); });
  const auto parsed = [&] {
    return parse_options(
        a.options.empty() ? std::vector<std::string>() : split_outside_brackets(a.options),
        a.sparsities, operands, context.library.formats);
  };
  a.job.request.options = value_of_flag(a.options.empty() ? "--sparsities" : "--formats", parsed);
  a.job.request.budgets = value_of_flag("--budget", [&] { return parse_budgets(a.budgets); });
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.runs.batch_size = a.job.calibration.batch_size;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  print("allocate", allocate_formats(a.job, context), a.run);
}

Options options_of(const AllocateArguments*) {
  using A = AllocateArguments;
  return {
      model_argument<&A::job, &AllocateJob::model>("model folder, not quantized"),
      option<&A::options>("formats", "formats to choose from, separated by commas")
          .takes(kFormatOrNoneListValue),
      option<&A::sparsities, &SparsityTexts::shares>(
          "sparsities", "fractions of weights to prune, with every format")
          .separated()
          .shown("LIST")
          .above_zero()
          .from(0, 1),
      option<&A::sparsities, &SparsityTexts::structures>(
          "structure", "what --sparsities prune: weights, or blocks such as 1x4")
          .separated()
          .shown("LIST")
          .accepted_by(parse_layer_structure)
          .needing("sparsities"),
      option<&A::operands>("operands",
                           "operands of a linear layer to quantize, separated by commas")
          .separated()
          .shown("LIST")
          .rare(),
      option<&A::budgets>("budget", "average_bits<=N, packed_bytes<=N, latency_ms<=N")
          .required()
          .separated()
          .shown("BUDGET"),
      option<&A::job, &AllocateJob::request, &decltype(AllocateJob::request)::tied>(
          "same_format", "linear layers that must share one format; may be repeated")
          .shown("GLOB")
          .rare(),
      option<&A::job, &AllocateJob::request, &decltype(AllocateJob::request)::sensitivity_samples>(
          "sensitivity_samples", "validation examples for the sensitivity of each layer (0: all)")
          .from(0)
          .rare(),
      option<&A::job, &AllocateJob::timed, &decltype(AllocateJob::timed)::texts>(
          "latency_batch_size", "batch size that latency_ms refers to")
          .from(1, 1024)
          .rare(),
      option<&A::job, &AllocateJob::timed, &decltype(AllocateJob::timed)::tokens>(
          "latency_tokens", "tokens per example for latency_ms (0: average of validation)")
          .from(0)
          .rare(),
      option<&A::job, &AllocateJob::points>("candidates",
                                            "solutions on the front to evaluate as whole models")
          .from(1, 1000)
          .rare(),
      option<&A::job, &AllocateJob::swaps>(
          "swaps", "swaps of two layers to evaluate around the best one (0: none)")
          .from(0, 1000)
          .rare(),
      split_option<&A::job, &AllocateJob::split>("split to measure the result on; by default test"),
      group<&A::job, &AllocateJob::data>(training_data()),
      group<&A::calibration>(),
      no_cache_option<&A::no_cache>(),
      resume_option<&A::job, &AllocateJob::resume>(),
      row_hashes_option<&A::job, &AllocateJob::row_hashes>(),
      group<&A::job, &AllocateJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command allocate_command() {
  return {.name = "allocate",
          .summary = "Choose each layer's format within a size or latency budget",
          .example =
              "hone allocate my-model --formats 'int(bits=8),mxint(bits=4)' --budget "
              "'average_bits<=5' --data 'synth:negation?seed=7&n=30000' -o allocation",
          .run = runs<AllocateArguments, allocate>()};
}

}  // namespace hone
