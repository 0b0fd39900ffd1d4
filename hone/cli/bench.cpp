#include <algorithm>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/jobs/bench.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct BenchArguments {
  std::string model;
  std::string qat, format;
  bool profile = false;
  BenchOptions bench;
  RunArguments run;
};

Model bench_model(const std::string& source, const Context& context, std::uint64_t seed) {
  // Unlike `train tiny`, with BERT's vocabulary: the embeddings are most of a small model's training
  // step.
  return is_fresh(source) ? new_model(fresh_facts(source), context.library.ops, seed)
                          : open_model(source, context, seed).model;
}

Table profile_table(const BenchResult& result) {
  Table table({{"kernel", "Operation / kernel"},
               {"calls", "Calls per run"},
               {"ms", "ms per run"},
               {"share", "Share"}});
  std::vector<std::pair<std::string, KernelTime>> rows(result.kernels.begin(),
                                                       result.kernels.end());
  std::ranges::sort(
      rows, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double total = 0;
  for (const auto& [name, time] : rows) total += time.seconds;
  for (const auto& [name, time] : rows) {
    table.add_row({name, time.calls / result.runs,
                   real(time.seconds * 1e3 / static_cast<double>(result.runs), 3),
                   percent(time.seconds / total)});
  }
  return table;
}

void run_bench(BenchArguments& a) {
  Context context = make_context(a.run);
  if (!a.qat.empty() && !a.format.empty())
    throw UsageError("hone bench: give --qat or --format, not both");
  if (!a.qat.empty()) a.bench.train = true;
  const std::string& format = a.qat.empty() ? a.format : a.qat;
  if (!format.empty())
    a.bench.format = value_of_flag(a.qat.empty() ? "--format" : "--qat",
                                   [&] { return parse_format(format, context.library.formats); });
  const Model model = bench_model(a.model, context, a.run.seed);
  const BenchResult r = bench(model, a.model, a.bench, context);
  tell_notes(context, r.notes);
  if (a.run.json) {
    Json line = {{"model", a.model},
                 {"what", r.what},
                 {"arithmetic", r.arithmetic()},
                 {"batch", a.bench.batch},
                 {"tokens", a.bench.tokens},
                 {"first_ms", r.first_ms},
                 {"min_ms", r.min_ms},
                 {"median_ms", r.median_ms},
                 {"timed_runs", r.runs},
                 {"gflop", r.gflop},
                 {"peak_gflops", r.peak.value},
                 {"peak_gflops_now", r.peak.measured_now},
                 {"peak_date", r.peak.date},
                 {"share_of_peak", r.share_of_peak()},
                 {"threads", r.threads}};
    if (!r.format.empty()) line["format"] = r.format;
    if (a.profile) line["kernels"] = to_json(profile_table(r));
    return print_result("bench", line);
  }
  Table table({{"what", "What"},
               {"first_ms", "First (ms)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"runs", "Runs"},
               {"gflop", "GFLOP"},
               {"share_of_peak", fmt::format("Share of {:.0f} GFLOP/s", r.peak.value)}});
  table.add_row({r.what, real(r.first_ms, 2), real(r.min_ms, 2), real(r.median_ms, 2), r.runs,
                 real(r.gflop, 2), percent(r.share_of_peak())});
  print_text(a.run, "{}\nPeak: {:.0f} GFLOP/s of fp32 multiply-adds on {}, {}.\n",
             to_text(table, text_style(a.run)), r.peak.value,
             r.threads == 1 ? "one thread" : fmt::format("{} threads", r.threads),
             provenance(r.peak));
  if (a.profile) print_text(a.run, "\n{}", to_text(profile_table(r), text_style(a.run)));
}

}  // namespace

Command bench_command() {
  return {
      "bench", "time a model on this machine",
      "hone bench tiny --batch 8 --tokens 128 --train --threads 2 --json",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<BenchArguments>();
        app.add_option("MODEL", a->model, "model folder, or tiny or base (with BERT's vocabulary)")
            ->required();
        app.add_option("--batch", a->bench.batch, "texts per run")->check(number_from(1));
        app.add_option("--tokens", a->bench.tokens, "tokens per text")->check(number_from(1));
        app.add_flag("--train", a->bench.train, "time a training step with dropout and AdamW");
        app.add_option("--qat", a->qat, "time a training step with quantizers of this format");
        app.add_option("--format", a->format, "put quantizers of this format into what is timed");
        app.add_option("--runs", a->bench.runs,
                       "counted runs; 0: 60, or 12 when one takes over 200 ms")
            ->check(number_from(0));
        app.add_flag("--profile", a->profile, "show where the time went, by kernel");
        declare(app, a->run);
        return [a] { run_bench(*a); };
      }};
}

}  // namespace hone
