#include "hone/cli/bench_flags.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"

namespace hone {

void declare(CLI::App& app, BenchFlags& flags, BenchOptions& options) {
  declare_run_size(app, options.batch, options.tokens);
  app.add_flag("--train", options.train, "time a training step (dropout, AdamW)");
  app.add_option("--qat", flags.qat, "time a QAT step in this format");
  app.add_option("--format", flags.format, "quantize the model in this format (simulated)");
  app.add_option("--native", flags.native, "quantize the model in this format (native)");
  app.add_option("--lora", flags.lora, "time a LoRA training step, such as r=8,alpha=16");
}

void take(const BenchFlags& flags, const std::string& command, const FormatTable& formats,
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
