#include "hone/cli/bench_flags.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"

namespace hone {

void declare(CLI::App& app, BenchFlags& flags, BenchOptions& options) {
  app.add_option("--batch", options.batch, "texts or images per run")->check(number_from(1));
  app.add_option("--tokens", options.tokens,
                 "tokens per text; by default 128, or the model's positions if fewer")
      ->check(number_from(1));
  app.add_flag("--train", options.train, "a training step with dropout and AdamW");
  app.add_option("--qat", flags.qat, "a training step with quantizers of this format");
  app.add_option("--format", flags.format, "put quantizers of this format into it");
  app.add_option("--native", flags.native,
                 "pack the weights of linears in this format and multiply by codes, with "
                 "inputs rounded to what fits");
  app.add_option("--lora", flags.lora,
                 "a training step of low-rank adapters and the head alone: options of "
                 "the pass insert_lora, such as r=8,alpha=16,dropout=0.1,target=query");
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
