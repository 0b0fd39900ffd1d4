#include "hone/jobs/bench.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct BenchArguments {
  BenchJob job;
  std::string qat, format;
  RunArguments run;
};

void run_bench(BenchArguments& a) {
  Context context = make_context(a.run);
  if (!a.qat.empty() && !a.format.empty())
    throw UsageError("hone bench: give --qat or --format, not both");
  if (!a.qat.empty()) a.job.options.train = true;
  const std::string& format = a.qat.empty() ? a.format : a.qat;
  if (!format.empty())
    a.job.options.format = value_of_flag(a.qat.empty() ? "--format" : "--qat", [&] {
      return parse_format(format, context.library.formats);
    });
  a.job.seed = a.run.seed;
  const BenchResult result = bench(a.job, context);
  if (a.run.json) return print_result("bench", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command bench_command() {
  return {
      "bench", "time a model on this machine",
      "hone bench tiny --batch 8 --tokens 128 --train --threads 2 --json",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<BenchArguments>();
        app.add_option("MODEL", a->job.model,
                       "model folder, or tiny or base (with BERT's vocabulary)")
            ->required();
        app.add_option("--batch", a->job.options.batch, "texts per run")->check(number_from(1));
        app.add_option("--tokens", a->job.options.tokens, "tokens per text")->check(number_from(1));
        app.add_flag("--train", a->job.options.train,
                     "time a training step with dropout and AdamW");
        app.add_option("--qat", a->qat, "time a training step with quantizers of this format");
        app.add_option("--format", a->format, "put quantizers of this format into what is timed");
        app.add_option("--runs", a->job.options.runs,
                       "counted runs; 0: 60, or 12 when one takes over 200 ms")
            ->check(number_from(0));
        app.add_flag("--profile", a->job.profile, "show where the time went, by kernel");
        declare(app, a->run);
        return [a] { run_bench(*a); };
      }};
}

}  // namespace hone
