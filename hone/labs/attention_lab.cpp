#include "hone/labs/attention_lab.h"

#include <algorithm>
#include <numeric>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/labs/other_device.h"

namespace hone {
namespace {

constexpr std::int64_t kRunsOfMeans[] = {5, 20, 100};

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

// ---- told

const Json* way_of(const Json& found, std::string_view dtype, std::string_view way) {
  for (const Json& row : found.at("times"))
    if (row.at("dtype") == dtype && row.at("impl") == way) return &row;
  return nullptr;
}

std::vector<double> rounds_of(const Json& row) {
  return row.at("rounds_ms").get<std::vector<double>>();
}

// The mean of the first n runs, the very first among them; nothing where there were fewer.
Cell mean_of(const Json& row, std::int64_t n) {
  const std::vector<double> rounds = rounds_of(row);
  if (std::ssize(rounds) < n - 1) return absent;
  const double sum =
      std::accumulate(rounds.begin(), rounds.begin() + (n - 1), row.at("first_ms").get<double>());
  return real(sum / static_cast<double>(n), 3);
}

Cell beside_naive(const Json* naive, const Json& row) {
  if (naive == nullptr) return absent;
  return speedup_cell(speedup_of(rounds_of(*naive), rounds_of(row)));
}

std::vector<Column> attention_columns() {
  return {{"shape", "Texts, heads, tokens, size"},
          {"device", "Device"},
          {"dtype", "Type"},
          {"impl", "Implementation"},
          {"first_ms", "First (ms)"},
          {"median_ms", "Median (ms)"},
          {"speedup", "Speedup"},
          {"mean_5", "Mean of 5 (ms)"},
          {"mean_20", "Mean of 20"},
          {"mean_100", "Mean of 100"},
          {"needed_bytes", "Memory"},
          {"relative_difference", "Relative difference"},
          {"why_not", "Remark"}};
}

std::vector<Cell> missing_row(const TimedAttention& one, std::string_view device,
                              std::string_view dtype, const std::string& why_not) {
  std::vector<Cell> row(attention_columns().size(), absent);
  row[0] = one.name();
  row[1] = std::string(device);
  row[2] = std::string(dtype);
  row[3] = "naive and fused";
  row.back() = why_not;
  return row;
}

std::vector<Cell> run_row(const TimedAttention& one, const std::string& device, const Json& found,
                          const AttentionType& type, std::string_view way) {
  const Json &row = *way_of(found, type.name, way), *naive = way_of(found, type.name, "naive");
  std::vector<Cell> cells = {one.name(),
                             device,
                             std::string(type.name),
                             std::string(way),
                             real(row.at("first_ms"), 2),
                             real(row.at("median_ms"), 3),
                             &row == naive ? Cell(absent) : beside_naive(naive, row)};
  for (const std::int64_t n : kRunsOfMeans) cells.push_back(mean_of(row, n));
  cells.push_back(bytes(row.at("needed_bytes")));
  const Json& difference = row.at("relative_difference");
  cells.push_back(difference.is_number() ? significant(difference) : Cell(absent));
  cells.push_back(absent);
  return cells;
}

// Every shape, device, type and way; those that were not run say why.
Table attention_overview(const std::vector<TimedAttention>& shapes, const LabRun& run) {
  Table table(attention_columns());
  const OtherDevice other = other_device(run.context);
  const std::string device(run.context.device->kind());
  for (const TimedAttention& one : shapes) {
    const Json& found = run.found.at(stage_of(one));
    for (const AttentionType& type : kAttentionTypes)
      for (const std::string_view way : kAttentionWays)
        table.add_row(run_row(one, device, found, type, way));
    for (const AttentionType& type : kAttentionTypes)
      table.add_row(missing_row(one, other.name, type.name, other.why_not));
  }
  return table;
}

// Calls, their own time and that of one call, as a profiler tells it: operations hold no others, so own time is all of it.
Table operators_overview(const std::vector<TimedAttention>& shapes, const LabRun& run) {
  Table table({{"shape", "Texts, heads, tokens, size"},
               {"dtype", "Type"},
               {"impl", "Implementation"},
               {"operation", "Operation"},
               {"kernel", "Kernel"},
               {"calls", "Calls"},
               {"self_ms", "Self = total (ms)"},
               {"share", "Share"},
               {"call_us", "Per call (µs)"}});
  for (const TimedAttention& one : shapes)
    for (const Json& way : run.found.at(stage_of(one)).at("times"))
      for (const Json& row : way.at("operators"))
        table.add_row({one.name(), way.at("dtype").get<std::string>(),
                       way.at("impl").get<std::string>(), row.at("operation").get<std::string>(),
                       row.at("kernel").is_string() ? Cell(row.at("kernel").get<std::string>())
                                                    : Cell(absent),
                       row.at("calls").get<std::int64_t>(), real(row.at("ms"), 3),
                       percent(row.at("share")), real(row.at("call_us"), 1)});
  return table;
}

Table published_attention() {
  Table table({{"what", "Result"}, {"published", "Published"}, {"source", "Source"}});
  const char* reports = "reports of the lab: scaled_dot_product_attention of PyTorch";
  table.add_row({"CPU, fp32", "1.15× to 1.7× faster", reports});
  table.add_row(
      {"CPU, unnamed type",
       "33× faster; with 15,360 calls of select, so its naive product is likely fp16, one "
       "slow matrix at a time",
       "report 003"});
  table.add_row({"GPU", "1.8× to 8× faster", reports});
  return table;
}

// Panels over the tokens of a text, for the types that were run.
Figure attention_figure(const std::vector<TimedAttention>& shapes, const LabRun& run) {
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
    for (const std::string_view way : kAttentionWays) {
      Series held{.label = fmt::format("{}, {}", way, type.name), .draw = Draw::points};
      for (const TimedAttention& one : shapes) {
        const Json& found = run.found.at(stage_of(one));
        const Json *row = way_of(found, type.name, way), *naive = way_of(found, type.name, "naive");
        if (row == nullptr) continue;
        const auto tokens = static_cast<double>(one.shape.tokens);
        held.points.push_back({.x = tokens,
                               .y = row->at("needed_bytes").get<double>() / (1 << 20) /
                                    static_cast<double>(one.shape.texts),
                               .name = one.name()});
        if (way != "fused" || naive == nullptr || rounds_of(*row).size() < kFewestForMedianInterval)
          continue;
        const TimesInTurn turns = compare_rounds(rounds_of(*naive), rounds_of(*row));
        speeds.points.push_back({.x = tokens,
                                 .y = turns.speedup,
                                 .low = turns.speedup_interval.low,
                                 .high = turns.speedup_interval.high,
                                 .name = one.name()});
      }
      if (!held.points.empty()) memory.series.push_back(std::move(held));
    }
    if (!speeds.points.empty()) speed.series.push_back(std::move(speeds));
  }
  return {.title = "Fused against naive attention", .panels = {speed, memory}, .width = 1000};
}

std::string headline_of_attention(const TimedAttention& one, const LabRun& run) {
  const Json& found = run.found.at(stage_of(one));
  const Json *naive = way_of(found, "fp32", "naive"), *fused = way_of(found, "fp32", "fused");
  return fmt::format("Fused attention of {} in fp32 on {}: {}, with {} of memory instead of {}",
                     one.name(), ran_on(found),
                     speedup_text(speedup_of(rounds_of(*naive), rounds_of(*fused))),
                     human_bytes(fused->at("needed_bytes").get<double>()),
                     human_bytes(naive->at("needed_bytes").get<double>()));
}

LabReport report_attention(const LabRun& run, const std::vector<TimedAttention>& shapes) {
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "as each row says; sums in fp32";
  report.data = "random operands, uniform with variance 1";
  const Table overview = attention_overview(shapes, run),
              operators = operators_overview(shapes, run);
  write_file(run.folder() / "overview.csv", to_csv(overview));
  write_file(run.folder() / "operators.csv", to_csv(operators));
  document.headline = headline_of_attention(shapes.front(), run);
  document.evidence = "Medians of runs in turn; latencies are of this machine.";
  document.sections = {
      {"",
       {PageTable{overview, "Naive and fused attention."},
        figure_block(attention_figure(shapes, run), run.folder() / "attention",
                     "Speedup of fused attention, and its memory, against the tokens of a text",
                     document.notes)}},
      {"Time by operation",
       {PageTable{operators,
                  "Per run, mean of three. Operations contain no others, so self time is "
                  "total time."}},
       /*folded=*/true},
      {"Published results",
       {PageTable{published_attention(),
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
  report.results = {{"overview", to_json(overview)},
                    {"operators", to_json(operators)},
                    {"published", to_json(published_attention())}};
  return report;
}

}  // namespace

std::string TimedAttention::name() const {
  return fmt::format("{} x {} x {} x {}", shape.texts, shape.heads, shape.tokens, shape.size);
}

Lab attention_lab(std::function<std::vector<TimedAttention>(Fidelity)> shapes) {
  return {
      .name = "4.2",
      .title = "naive and fused attention",
      .costs = "quick: half a minute; paper and full: minutes",
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
