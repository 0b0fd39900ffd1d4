#include "hone/cli/bench_flags.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"

namespace hone {

Options options_of(const BenchFlags*) {
  using A = BenchFlags;
  return {
      option<&A::qat>("qat", "time a QAT step in this format").takes(kFormatValue),
      option<&A::format>("format", "quantize the model in this format (simulated)")
          .takes(kFormatValue),
      option<&A::native>("native", "quantize the model in this format (native)")
          .takes(kFormatValue),
      option<&A::lora>("lora", "time a LoRA training step, such as r=8,alpha=16").shown("OPTIONS")};
}

void apply_flags(const BenchFlags& flags, const std::string& command, const FormatTable& formats,
                 BenchOptions& options) {
  if (!flags.qat.empty() && !flags.format.empty())
    throw UsageError(fmt::format("hone {}: give --qat or --format, not both", command));
  if (!flags.qat.empty()) options.train = true;
  const std::string& format = flags.qat.empty() ? flags.format : flags.qat;
  if (!format.empty())
    options.format = value_of_flag(flags.qat.empty() ? "--format" : "--qat",
                                   [&] { return parse_format(format, formats); });
  if (!flags.native.empty()) {
    if (!format.empty() || options.train)
      throw UsageError(fmt::format(
          "hone {}: --native times inference; give it without --qat, --format and --train",
          command));
    options.native = value_of_flag("--native", [&] { return parse_format(flags.native, formats); });
  }
  if (!flags.lora.empty()) {
    if (options.native)
      throw UsageError(
          fmt::format("hone {}: --lora times training; give it without --native", command));
    options.lora = flags.lora;
  }
}

}  // namespace hone
