#include "hone/labs/attention_lab.h"

#include <algorithm>
#include <numeric>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/labs/other_device.h"
#include "hone/report/field_table.h"

namespace hone {
namespace {

std::vector<TimedAttention> usual_shapes(Fidelity fidelity) {
  std::vector<TimedAttention> shapes = {{.shape = {32, 8, 128, 64}},
                                        {.shape = {8, 8, 512, 64}, .runs = 20},
                                        {.shape = {1, 8, 2048, 64}, .runs = 20}};
  if (fidelity == Fidelity::quick) return shapes;
  shapes.push_back({.shape = {32, 8, 512, 64}, .runs = 20});
  shapes.push_back({.shape = {1, 8, 4096, 64}, .runs = 20});
  for (TimedAttention& one : shapes) one.runs = 100;
  return shapes;
}

std::string stage_of(const TimedAttention& one) {
  const AttentionShape& s = one.shape;
  return fmt::format("attention-{}x{}x{}x{}", s.texts, s.heads, s.tokens, s.size);
}

LabStage attention_stage(const TimedAttention& one, const LabRates& rates) {
  const double scores_bytes = 4 * one.shape.scores();
  return {
      .name = stage_of(one),
      .what =
          fmt::format("times attention of {}, {} runs of each way in turn", one.name(), one.runs),
      .cost = {.seconds =
                   0.3 + 2 * static_cast<double>(one.runs + 8) *
                             (one.shape.flops() / rates.flops + 4 * scores_bytes / rates.bytes),
               .memory_bytes = 3 * scores_bytes},
      .run = [one](LabRun& run) {
        return bench_attention({.shape = one.shape, .runs = one.runs, .profile = true}, run.context)
            .fields;
      }};
}

// ---- the report

/// What a stage has found.
struct FoundAttention {
  TimedAttention of;
  BenchAttentionFields fields;

  const AttentionTimesResult* times(std::string_view dtype, AttentionWay way) const {
    for (const AttentionTimesResult& row : fields.times)
      if (row.dtype == dtype && row.impl == way) return &row;
    return nullptr;
  }
};

// The mean of the first n runs, the very first among them; nothing where there were fewer.
std::optional<double> mean_of(const AttentionTimesResult& row, std::int64_t n) {
  if (std::ssize(row.rounds_ms) < n - 1) return std::nullopt;
  return std::accumulate(row.rounds_ms.begin(), row.rounds_ms.begin() + (n - 1), row.first_ms) /
         static_cast<double>(n);
}

LabAttentionResult attention_row(const FoundAttention& found, const std::string& device,
                                 const AttentionTimesResult& row) {
  LabAttentionResult result{.shape = found.of.name(),
                            .device = device,
                            .dtype = row.dtype,
                            .impl = row.impl,
                            .first_ms = row.first_ms,
                            .median_ms = row.median_ms,
                            .mean_5 = mean_of(row, 5),
                            .mean_20 = mean_of(row, 20),
                            .mean_100 = mean_of(row, 100),
                            .needed_bytes = row.needed_bytes,
                            .relative_difference = row.relative_difference};
  if (row.impl != AttentionWay::naive) result.speedup = row.speedup;
  return result;
}

// Every shape, device, type and implementation; those that were not run say why.
std::vector<LabAttentionResult> overview_of(const std::vector<FoundAttention>& all,
                                            const LabRun& run) {
  std::vector<LabAttentionResult> overview;
  const OtherDevice other = other_device(run.context);
  const std::string device(run.context.device->kind());
  for (const FoundAttention& found : all) {
    for (const AttentionTimesResult& row : found.fields.times)
      overview.push_back(attention_row(found, device, row));
    for (const AttentionType& type : kAttentionTypes)
      overview.push_back({.shape = found.of.name(),
                          .device = other.name,
                          .dtype = std::string(type.name),
                          .why_not = other.why_not});
  }
  return overview;
}

// Operations contain no others, so their own time is all of it.
std::vector<LabOperatorResult> operators_of(const std::vector<FoundAttention>& all) {
  std::vector<LabOperatorResult> rows;
  for (const FoundAttention& found : all)
    for (const AttentionTimesResult& times : found.fields.times)
      for (const OperatorTimeResult& one : times.operators.value())
        rows.push_back({.shape = found.of.name(),
                        .dtype = times.dtype,
                        .impl = times.impl,
                        .operation = one.operation,
                        .kernel = one.kernel,
                        .calls = one.calls,
                        .self_ms = one.ms,
                        .share = one.share,
                        .call_us = one.call_us});
  return rows;
}

std::vector<PublishedResult> published_attention() {
  const std::string reports = "reports of the lab: scaled_dot_product_attention of PyTorch";
  return {{.what = "CPU, fp32", .published = "1.15× to 1.7× faster", .source = reports},
          {.what = "CPU, unnamed type",
           .published = "33× faster; with 15,360 calls of select, so its naive product is likely "
                        "fp16, one slow matrix at a time",
           .source = "report 003"},
          {.what = "GPU", .published = "1.8× to 8× faster", .source = reports}};
}

// Panels over the tokens of a text, for the types that were run.
Figure attention_figure(const std::vector<FoundAttention>& all) {
  Panel speed{.title = "Fused against naive",
              .x = {.label = "Tokens", .logarithmic = true},
              .y = {.label = "Speedup"}};
  Panel memory{.title = "Memory per text",
               .x = {.label = "Tokens", .logarithmic = true},
               .y = {.label = "MiB", .logarithmic = true}};
  speed.references.push_back({.y = 1, .label = "same speed"});
  for (const AttentionType& type : kAttentionTypes) {
    Series speeds{
        .label = fmt::format("fused, {}", type.name), .draw = Draw::points, .spread = Spread::bars};
    for (const AttentionWay way : {AttentionWay::naive, AttentionWay::fused}) {
      Series held{.label = fmt::format("{}, {}", to_string(way), type.name), .draw = Draw::points};
      for (const FoundAttention& found : all) {
        const AttentionTimesResult* row = found.times(type.name, way);
        if (row == nullptr) continue;
        const AttentionShape& shape = found.of.shape;
        const auto tokens = static_cast<double>(shape.tokens);
        held.points.push_back({.x = tokens,
                               .y = static_cast<double>(row->needed_bytes) / (1 << 20) /
                                    static_cast<double>(shape.texts),
                               .name = found.of.name()});
        if (way != AttentionWay::fused || !row->speedup || !row->speedup->interval) continue;
        speeds.points.push_back({.x = tokens,
                                 .y = row->speedup->value,
                                 .low = row->speedup->interval->low,
                                 .high = row->speedup->interval->high,
                                 .name = found.of.name()});
      }
      if (!held.points.empty()) memory.series.push_back(std::move(held));
    }
    if (!speeds.points.empty()) speed.series.push_back(std::move(speeds));
  }
  return {.title = "Fused against naive attention", .panels = {speed, memory}, .width = 1000};
}

std::string headline_of_attention(const FoundAttention& found) {
  const AttentionTimesResult &naive = *found.times("fp32", AttentionWay::naive),
                             &fused = *found.times("fp32", AttentionWay::fused);
  return fmt::format("Fused attention of {} in fp32 on {}: {}, with {} of memory instead of {}",
                     found.of.name(), ran_on(found.fields.device, found.fields.threads),
                     speedup_text(fused.speedup.value()),
                     human_bytes(static_cast<double>(fused.needed_bytes)),
                     human_bytes(static_cast<double>(naive.needed_bytes)));
}

LabReport report_attention(const LabRun& run, const std::vector<TimedAttention>& shapes) {
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "as each row says; sums in fp32";
  report.data = "random operands, uniform with variance 1";
  std::vector<FoundAttention> all;
  for (const TimedAttention& one : shapes)
    all.push_back({one, from_json<BenchAttentionFields>(run.found.at(stage_of(one)))});
  AttentionLabFields fields{.overview = overview_of(all, run),
                            .operators = operators_of(all),
                            .published = published_attention()};
  const Table overview = headed_table(fields.overview), operators = headed_table(fields.operators);
  write_file(run.folder() / "overview.csv", to_csv(overview));
  write_file(run.folder() / "operators.csv", to_csv(operators));
  document.headline = headline_of_attention(all.front());
  document.evidence = "Medians of runs in turn; latencies are of this machine.";
  document.sections = {
      {"",
       {PageTable{overview, "Naive and fused attention."},
        figure_block(attention_figure(all), run.folder() / "attention",
                     "Speedup of fused attention, and its memory, against the tokens of a text",
                     document.notes)}},
      {"Time by operation",
       {PageTable{operators,
                  "Per run, mean of three. Operations contain no others, so self time is "
                  "total time."}},
       /*folded=*/true},
      {"Published results",
       {PageTable{published_table(fields.published),
                  "Other machines and another program, for orientation only."}},
       /*folded=*/true},
      {"How to read this",
       {Paragraph{"Implementations of a type took turns, after two uncounted runs each; runs below "
                  "a millisecond are timed many in a row. Speedup: against naive attention of the "
                  "same type, the median of the ratios with its 95% confidence interval. Means "
                  "include the first run."},
        Paragraph{"Differences: from naive attention of the same operands in fp32, divided by the "
                  "largest result. Operands are random: equal operands would hide wrong weights."}},
       /*folded=*/true}};
  report.results = results_of(std::move(fields));
  return report;
}

}  // namespace

const Fields& fields_of(const LabAttentionResult*) {
  using L = LabAttentionResult;
  static const Fields fields = describe<L>(
      "lab_attention", "An implementation of attention, or a device that it was not run on.",
      field<&L::shape>("shape", "Texts x heads x tokens x elements of a head.",
                       "Texts, heads, tokens, size"),
      field<&L::device>("device", "Kind of device.", "Device"),
      field<&L::dtype>("dtype", "Type of operands and results: fp32, bf16 or fp16.", "Type"),
      field<&L::impl>("impl", "The implementation; null: neither was run.", "Implementation"),
      field<&L::first_ms>("first_ms", Unit::milliseconds, "The first run; null: not run.",
                          "First (ms)"),
      field<&L::median_ms>("median_ms", Unit::milliseconds, "Median run; null: not run.",
                           "Median (ms)"),
      inlined<&L::speedup>(),
      field<&L::mean_5>("mean_5", Unit::milliseconds,
                        "Mean of the first run and four that count; null: there were fewer.",
                        "Mean of 5 (ms)"),
      field<&L::mean_20>("mean_20", Unit::milliseconds, "The same of 20 runs.", "Mean of 20"),
      field<&L::mean_100>("mean_100", Unit::milliseconds, "The same of 100 runs.", "Mean of 100"),
      field<&L::needed_bytes>("needed_bytes", Unit::bytes, "Predicted for a run; null: not run.",
                              "Memory"),
      field<&L::relative_difference>(
          "relative_difference", Unit::ratio,
          "Largest difference from naive attention in fp32, by the largest of its results; null: "
          "not run.",
          "Relative difference"),
      field<&L::why_not>("why_not", "Reason why it was not run; null: it was.", "Remark"));
  return fields;
}

const Fields& fields_of(const LabOperatorResult*) {
  using L = LabOperatorResult;
  static const Fields fields = describe<L>(
      "lab_operator", "What operations take of a run.",
      field<&L::shape>("shape", "Texts x heads x tokens x elements of a head.",
                       "Texts, heads, tokens, size"),
      field<&L::dtype>("dtype", "Type of operands and results: fp32, bf16 or fp16.", "Type"),
      field<&L::impl>("impl", "The implementation.", "Implementation"),
      field<&L::operation>("operation", "Its name.", "Operation"),
      field<&L::kernel>("kernel", "The kernel that computed it; null: several.", "Kernel"),
      field<&L::calls>("calls", "Calls in a run.", "Calls"),
      field<&L::self_ms>("self_ms", Unit::milliseconds, "Of a run; operations contain no others.",
                         "Self = total (ms)"),
      field<&L::share>("share", Unit::share, "Of the time of all operations.", "Share"),
      field<&L::call_us>("call_us", Unit::microseconds, "One call.", "Per call (µs)"));
  return fields;
}

const Fields& fields_of(const AttentionLabFields*) {
  using A = AttentionLabFields;
  static const Fields fields =
      describe<A>("lab", "Naive and fused attention.", inlined<&A::lab>(),
                  field<&A::overview>("overview", "Every shape, device, type and implementation."),
                  field<&A::operators>("operators", "Time by operation."),
                  field<&A::published>("published", "Numbers that others have published."));
  return fields;
}

std::string TimedAttention::name() const {
  return fmt::format("{} x {} x {} x {}", shape.texts, shape.heads, shape.tokens, shape.size);
}

Lab attention_lab(std::function<std::vector<TimedAttention>(Fidelity)> shapes) {
  return {
      .name = "4.2",
      .title = "naive and fused attention",
      .costs = "quick: half a minute; paper and full: minutes",
      .question = "How does fused attention differ from naive attention when it runs, and why?",
      .stages =
          [shapes](const LabRun& run, const LabRates& rates) {
            std::vector<LabStage> stages;
            for (const TimedAttention& one : shapes(run.job.fidelity))
              stages.push_back(attention_stage(one, rates));
            return stages;
          },
      .report =
          [shapes](const LabRun& run) { return report_attention(run, shapes(run.job.fidelity)); },
      .input = LabInput::nothing};
}

Lab attention_lab() { return attention_lab(usual_shapes); }

}  // namespace hone
