#include "hone/jobs/sensitivity.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct SensitivityArguments {
  SensitivityJob job;
  std::string formats;
  std::vector<double> sparsities;
  std::string structure = "weights";
  CalibrationArguments calibration;
  RunArguments run;
};

std::vector<LayerChange> changes_of(const SensitivityArguments& a, const FormatTable& formats) {
  std::vector<LayerChange> changes;
  if (!a.formats.empty())
    for (const std::string& text : split_outside_brackets(a.formats))
      changes.push_back({.label = text,
                         .formats = LayerFormats::reads(value_of_flag(
                             "--formats", [&] { return parse_format(text, formats); }))});
  const PruneStructure structure = parse_layer_structure(a.structure);
  for (const double share : a.sparsities) {
    const std::string blocks =
        structure.block.is_single() ? "" : " in blocks of " + structure_text(structure);
    changes.push_back({.label = fmt::format("{:g}% pruned{}", 100 * share, blocks),
                       .sparsity = {.share = share, .structure = structure}});
  }
  user_check(
      !changes.empty(),
      "no changes to measure; give `formats` ('bf16,int(bits=8)') or `sparsities` (0.3,0.5)");
  return changes;
}

void sensitivity(SensitivityArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.changes = changes_of(a, context.library.formats);
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.runs.batch_size = a.job.calibration.batch_size;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("sensitivity", measure_sensitivity(a.job, context), a.run);
}

Options options_of(const SensitivityArguments*) {
  using A = SensitivityArguments;
  return {
      model_argument<&A::job, &SensitivityJob::model>("model folder, not quantized"),
      option<&A::formats>("formats", "formats to try on each layer, separated by commas")
          .takes(kFormatListValue),
      option<&A::sparsities>("sparsities", "fractions of each layer's weights to remove")
          .separated()
          .shown("LIST")
          .above_zero(1),
      option<&A::structure>("structure", "what --sparsities remove: weights, or blocks such as 1x4")
          .accepted_by(parse_layer_structure)
          .needing("sparsities"),
      split_option<&A::job, &SensitivityJob::split>("split to measure on"),
      group<&A::job, &SensitivityJob::data>(training_data()),
      group<&A::calibration>(),
      group<&A::job, &SensitivityJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command sensitivity_command() {
  return {.name = "sensitivity",
          .summary = "Measure how each layer reacts to formats and pruning",
          .example =
              "hone sensitivity my-model --formats 'bf16,mxint(bits=4)' --data "
              "'synth:negation?seed=7&n=30000' -o sensitivity",
          .run = runs<SensitivityArguments, sensitivity>()};
}

}  // namespace hone
