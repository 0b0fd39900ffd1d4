#include "hone/labs/attention_lab.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/labs/skipped_device.h"
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
  return {.name = stage_of(one),
          .what = fmt::format("times attention of {}, {} runs of each implementation in turn",
                              one.name(), one.runs),
          .cost = {.seconds =
                       0.3 + 2 * static_cast<double>(one.runs + 8) *
                                 (one.shape.flops() / rates.flops + 4 * scores_bytes / rates.bytes),
                   .memory_bytes = 3 * scores_bytes},
          .run = [one](LabRun& run) {
            return bench_attention({.shape = one.shape, .runs = one.runs, .profile = true},
                                   run.context)
                .fields;
          }};
}

// ---- the report

/// The result of a stage.
struct FoundAttention {
  TimedAttention of;
  BenchAttentionFields fields;

  const AttentionTimesResult* times(std::string_view dtype,
                                    AttentionImplementation implementation) const {
    for (const AttentionTimesResult& row : fields.times)
      if (row.dtype == dtype && row.impl == implementation) return &row;
    return nullptr;
  }
  // Returns the row in fp32, which runs on every device and in every shape.
  const AttentionTimesResult& fp32(AttentionImplementation implementation) const {
    const AttentionTimesResult* row = times("fp32", implementation);
    HONE_ASSERT(row != nullptr, "no {} attention in fp32", to_string(implementation));
    return *row;
  }
  double matrix_bytes(std::string_view dtype) const {
    const auto type = std::ranges::find(kAttentionTypes, dtype, &AttentionType::name);
    return of.shape.scores() * static_cast<double>(info(type->dtype).size_bytes);
  }
  // Returns the memory of the scores, computed from the shape.
  std::int64_t score_bytes(const AttentionTimesResult& row) const {
    return row.impl == AttentionImplementation::naive ? std::llround(matrix_bytes(row.dtype)) : 0;
  }
};

// Returns the mean of the first n runs, including the very first one; none if there were fewer.
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
                            .score_bytes = found.score_bytes(row),
                            .value_bytes = row.value_bytes,
                            .needed_bytes = row.needed_bytes,
                            .relative_difference = row.relative_difference};
  if (row.impl != AttentionImplementation::naive) result.speedup = row.speedup;
  return result;
}

// Lists every shape, device, type and implementation, with the reason for those not run.
std::vector<LabAttentionResult> overview_of(const std::vector<FoundAttention>& all,
                                            const LabRun& run) {
  std::vector<LabAttentionResult> overview;
  const OtherDevice other = other_device(run.context);
  const std::string device(run.context.device->kind());
  for (const FoundAttention& found : all) {
    for (const AttentionTimesResult& row : found.fields.times)
      overview.push_back(attention_row(found, device, row));
  }
  overview.push_back(
      {.shape = "all", .device = other.name, .dtype = "all", .why_not = other.why_not});
  return overview;
}

// Operations are not nested, so their own time is their total time.
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
                        .call_us = one.call_us,
                        .moved_bytes = std::llround(one.moved_bytes())});
  return rows;
}

// Lists both implementations of one shape and type, each below the sum of its operations.
Table operators_side_by_side(const std::vector<LabOperatorResult>& rows) {
  Table table({{"impl", "Implementation"},
               {"operation", "Operation"},
               {"kernel", "Kernel"},
               {"calls", "Calls"},
               {"self_ms", "Self (ms)"},
               {"total_ms", "Total (ms)"},
               {"share", "Share"},
               {"call_us", "Per call (µs)"},
               {"moved_bytes", "Memory traffic"}});
  for (const AttentionImplementation implementation :
       {AttentionImplementation::naive, AttentionImplementation::fused}) {
    const std::string impl(to_string(implementation));
    LabOperatorResult sum;
    for (const LabOperatorResult& row : rows)
      if (row.impl == implementation) {
        sum.calls += row.calls;
        sum.self_ms += row.self_ms;
        sum.moved_bytes += row.moved_bytes;
      }
    table.add_row({impl, "all", absent, sum.calls, absent, real(sum.self_ms, 3), percent(1), absent,
                   bytes(sum.moved_bytes)});
    for (const LabOperatorResult& row : rows)
      if (row.impl == implementation)
        table.add_row({impl, row.operation, row.kernel ? Cell(*row.kernel) : Cell(absent),
                       row.calls, real(row.self_ms, 3), real(row.self_ms, 3), percent(row.share),
                       real(row.call_us, 1), bytes(row.moved_bytes)});
  }
  return table;
}

Section operators_section(const FoundAttention& found,
                          const std::vector<LabOperatorResult>& operators) {
  Section section{fmt::format("Time by operation, {}", found.of.name()), {}};
  for (const AttentionType& type : kAttentionTypes) {
    std::vector<LabOperatorResult> rows;
    std::ranges::copy_if(operators, std::back_inserter(rows), [&](const LabOperatorResult& row) {
      return row.shape == found.of.name() && row.dtype == type.name;
    });
    section.blocks.push_back(PageTable{
        operators_side_by_side(rows),
        fmt::format("{}, mean of the two faster of three recorded runs. Operations contain no "
                    "others, so self time is total time. Memory traffic: operands and results of "
                    "each operation, counted without caches.",
                    type.name)});
  }
  return section;
}

/// The operations of a recorded run that move memory; views move none.
struct OperationSum {
  std::int64_t calls = 0;
  double moved_bytes = 0;
};
OperationSum moving_operations(const AttentionTimesResult& row) {
  OperationSum sum;
  for (const OperatorTimeResult& one : row.operators.value())
    if (one.moved_bytes() > 0) {
      sum.calls += one.calls;
      sum.moved_bytes += one.moved_bytes();
    }
  return sum;
}

// Returns the time of the operations with this name.
double recorded_ms(const AttentionTimesResult& row, std::string_view operation) {
  double sum = 0;
  for (const OperatorTimeResult& one : row.operators.value())
    if (one.operation == operation) sum += one.ms;
  return sum;
}

double recorded_ms(const AttentionTimesResult& row) {
  double sum = 0;
  for (const OperatorTimeResult& one : row.operators.value()) sum += one.ms;
  return sum;
}

// Returns a warning if recorded runs took longer or shorter than timed ones; "" if not, so that the times of operations
// add up to the medians.
std::string recording_warning(const std::vector<FoundAttention>& all) {
  constexpr double kFarApart = 1.2;
  std::vector<std::string> apart;
  for (const FoundAttention& found : all)
    for (const AttentionTimesResult& row : found.fields.times) {
      const double ratio = recorded_ms(row) / row.median_ms;
      if (ratio <= kFarApart && ratio >= 1 / kFarApart) continue;
      apart.push_back(fmt::format("{}, {}, {}: {} instead of {} ms", found.of.name(), row.dtype,
                                  to_string(row.impl), three_digits(recorded_ms(row)),
                                  three_digits(row.median_ms)));
    }
  if (apart.empty()) return "";
  return fmt::format(
      "The times of recorded runs and median runs differ by a factor of more than {}: {}. "
      "There, read the times of operations as shares.",
      kFarApart, fmt::join(apart, "; "));
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

Axis tokens_axis(const std::vector<FoundAttention>& all) {
  Axis axis{.label = "Tokens", .logarithmic = true};
  std::set<std::int64_t> tokens;
  for (const FoundAttention& found : all) tokens.insert(found.of.shape.tokens);
  for (const std::int64_t one : tokens)
    axis.ticks.push_back({static_cast<double>(one), fmt::format("{}", one)});
  return axis;
}

Figure speed_figure(const std::vector<FoundAttention>& all) {
  Panel panel{.x = tokens_axis(all), .y = {.label = "Speedup of fused attention"}};
  panel.references.push_back({.y = 1, .label = "same speed"});
  for (const AttentionType& type : kAttentionTypes) {
    Series series{.label = std::string(type.name), .draw = Draw::points, .spread = Spread::bars};
    for (const FoundAttention& found : all) {
      const AttentionTimesResult* row = found.times(type.name, AttentionImplementation::fused);
      if (row == nullptr || !row->speedup || !row->speedup->interval) continue;
      series.points.push_back({.x = static_cast<double>(found.of.shape.tokens),
                               .y = row->speedup->value,
                               .low = row->speedup->interval->low,
                               .high = row->speedup->interval->high,
                               .name = found.of.name()});
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return {
      .title = "Fused against naive attention of the same type; above 1, fused attention is faster",
      .panels = {panel}};
}

// In fp32; halves need half of it.
Figure memory_figure(const std::vector<FoundAttention>& all) {
  constexpr double kMebibyte = 1 << 20;
  Panel panel{.x = tokens_axis(all), .y = {.label = "MiB per text", .logarithmic = true}};
  const auto add = [&](const std::string& label, auto&& bytes_of) {
    Series series{.label = label};
    for (const FoundAttention& found : all)
      series.points.push_back(
          {.x = static_cast<double>(found.of.shape.tokens),
           .y = bytes_of(found) / kMebibyte / static_cast<double>(found.of.shape.texts),
           .name = found.of.name()});
    std::ranges::stable_sort(series.points, {}, &Point::x);
    panel.series.push_back(std::move(series));
  };
  for (const AttentionImplementation implementation :
       {AttentionImplementation::naive, AttentionImplementation::fused})
    add(std::string(to_string(implementation)), [&](const FoundAttention& found) {
      return static_cast<double>(found.fp32(implementation).needed_bytes);
    });
  add("matrix of scores", [](const FoundAttention& found) { return found.matrix_bytes("fp32"); });
  return {.title =
              "Memory of a run in fp32 per text, predicted: operands, intermediate results, "
              "workspace",
          .panels = {panel}};
}

// Returns "naive 17.0 ms, fused 15.6 ms: 1.17× faster in paired rounds (95% CI 1.08 to 1.19)".
std::string times_text(const FoundAttention& found) {
  const AttentionTimesResult& fused = found.fp32(AttentionImplementation::fused);
  return fmt::format("naive {} ms, fused {} ms: {}",
                     three_digits(found.fp32(AttentionImplementation::naive).median_ms),
                     three_digits(fused.median_ms), paired_speedup_text(fused.speedup.value()));
}

std::string bytes_text(const std::optional<std::int64_t>& count) {
  return human_bytes(static_cast<double>(count.value()));
}

// Returns the verb: "is" for "1.09× slower", "has" for "no measurable speedup".
std::string_view speed_verb(const FoundAttention& found) {
  const Speedup& speedup = found.fp32(AttentionImplementation::fused).speedup.value();
  return speedup.shown_faster() || speedup.shown_slower() ? "is" : "has";
}

// Returns "32 texts of 128 tokens".
std::string texts_text(const FoundAttention& found) {
  const AttentionShape& s = found.of.shape;
  return fmt::format("{} of {} tokens", counted_text(s.texts, "text"), grouped(s.tokens));
}

// Returns "1.09× slower (95% CI 1.06 to 1.16) for 32 texts of 128 tokens".
std::string speed_clause(const FoundAttention& found) {
  return fmt::format("{} for {}",
                     speedup_text(found.fp32(AttentionImplementation::fused).speedup.value()),
                     texts_text(found));
}

std::string headline_of_attention(const FoundAttention& first, const FoundAttention& last) {
  const AttentionTimesResult &naive = first.fp32(AttentionImplementation::naive),
                             &fused = first.fp32(AttentionImplementation::fused);
  const OperationSum before = moving_operations(naive), after = moving_operations(fused);
  std::string text = fmt::format(
      "Besides views, which move no data, naive attention runs {} operations and writes the matrix "
      "of scores ({}) to memory; fused attention runs {} and never writes it, so it moves {} "
      "instead of {} ({} in fp32, counted without caches). On {}, fused attention {} {}",
      before.calls, human_bytes(first.matrix_bytes("fp32")),
      after.calls == 1 ? "one" : fmt::format("{}", after.calls), human_bytes(after.moved_bytes),
      human_bytes(before.moved_bytes), first.of.name(),
      processor_text(first.fields.device, first.fields.threads), speed_verb(first),
      speed_clause(first));
  if (&last != &first)
    text += fmt::format(
        ", and {}{}",
        speed_verb(last) == speed_verb(first) ? "" : fmt::format("{} ", speed_verb(last)),
        speed_clause(last));
  return text + ".";
}

std::string why_naive(const FoundAttention& first) {
  constexpr int kPasses = 6;
  const AttentionShape& s = first.of.shape;
  const double passes = kPasses * first.matrix_bytes("fp32"),
               operands = 4 * 4.0 * static_cast<double>(s.texts * s.heads * s.tokens * s.size);
  return fmt::format(
      "Both implementations compute softmax(QKᵀ/√d)V with the same products. Naive attention "
      "stores the scores of all heads: {} × {} × {}² × 4 bytes = {} in fp32. Two products, scale "
      "and softmax write and read them in six passes, {}; with Q, K, V and the result, the table "
      "counts {} of traffic.",
      s.texts, s.heads, s.tokens, human_bytes(first.matrix_bytes("fp32")), human_bytes(passes),
      human_bytes(passes + operands));
}

std::string why_fused(bool on_host) {
  return fmt::format(
      "Fused attention never has the whole matrix (FlashAttention, Dao et al., 2022). It takes a "
      "block of queries through the keys and values, block by block. For each query it keeps the "
      "maximum m of the scores so far, the sum of exp(score − m), and the values summed with these "
      "weights (online softmax), all in {}. When a block raises m, both sums are multiplied by "
      "exp(m_old − m_new). So memory grows with the number of tokens, not with its square.",
      on_host ? "caches or registers" : "registers and shared memory");
}

// Returns the share of the naive run, in percent, that passes over the matrix without multiplying.
double passes_percent(const FoundAttention& found) {
  const AttentionTimesResult& naive = found.fp32(AttentionImplementation::naive);
  return 100 * (recorded_ms(naive, "scale") + recorded_ms(naive, "softmax")) / recorded_ms(naive);
}

// Explains the measured times; no run separates their causes.
std::string why_times(const std::vector<FoundAttention>& all, const FoundAttention& last) {
  const FoundAttention& first = all.front();
  const auto slower = std::ranges::count_if(all, [](const FoundAttention& found) {
    return found.fp32(AttentionImplementation::fused).speedup->shown_slower();
  });
  return fmt::format(
      "In recorded naive runs in fp32, scale and softmax took {:.1f}% of the time for {}{}. The "
      "products are the same, so the gain is limited.{}",
      passes_percent(first), texts_text(first),
      &last == &first ? ""
                      : fmt::format(", and {:.1f}% for {}", passes_percent(last), texts_text(last)),
      slower == 0 ? ""
                  : fmt::format(" Why fused attention was slower for {} of {} shapes in fp32 was "
                                "not measured.",
                                slower, all.size()));
}

// Explains a large speedup in fp16: the products of naive attention are slower than in fp32. "" if they are not.
std::string slow_halves_text(const FoundAttention& found, bool on_host) {
  const AttentionTimesResult* halves = found.times("fp16", AttentionImplementation::naive);
  if (halves == nullptr) return "";
  const double in_halves = recorded_ms(*halves, "matmul"),
               in_floats = recorded_ms(found.fp32(AttentionImplementation::naive), "matmul");
  if (in_halves <= in_floats) return "";
  return fmt::format(
      " Naive fp16 is a slow baseline: its recorded products took {} ms, those in fp32 {} ms.{}",
      three_digits(in_halves), three_digits(in_floats),
      on_host ? " hone's CPU kernels widen fp16 to fp32 and round each result." : "");
}

std::string why_types(const FoundAttention& found, bool on_host) {
  std::vector<std::string> differences, speeds;
  for (const AttentionType& type : kAttentionTypes) {
    const AttentionTimesResult* fused = found.times(type.name, AttentionImplementation::fused);
    if (fused == nullptr) continue;
    differences.push_back(
        fmt::format("{} in {}", three_digits(fused->relative_difference.value()), type.name));
    if (type.dtype != DType::f32)
      speeds.push_back(fmt::format("{}, {}", type.name, speedup_headline(fused->speedup.value())));
  }
  std::string text = fmt::format(
      "Sums are in another order: for {}, results of fused attention differ from those of naive "
      "attention in fp32 by at most {} of the largest result.",
      texts_text(found), fmt::join(differences, ", "));
  return speeds.empty()
             ? text
             : text + fmt::format(" Against naive attention of the same type: {}.{}",
                                  fmt::join(speeds, "; "), slow_halves_text(found, on_host));
}

std::string why_device(const OtherDevice& other, bool on_host) {
  return on_host ? fmt::format("On CUDA, this was {}. `hone lab 4.2 --device cuda` measures it.",
                               other.why_not)
                 : fmt::format("This run is on a GPU. On the CPU, this was {}.", other.why_not);
}

LabReport report_attention(const LabRun& run, const std::vector<TimedAttention>& shapes) {
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "as listed in each row; sums in fp32";
  report.data = "random operands, uniform with variance 1";
  std::vector<FoundAttention> all;
  for (const TimedAttention& one : shapes)
    all.push_back({one, from_json<BenchAttentionFields>(run.results.at(stage_of(one)))});
  AttentionLabFields fields{.overview = overview_of(all, run),
                            .operators = operators_of(all),
                            .published = published_attention()};
  const Table overview = headed_table(fields.overview), operators = headed_table(fields.operators);
  write_file(run.folder() / "overview.csv", to_csv(overview));
  write_file(run.folder() / "operators.csv", to_csv(operators));
  const FoundAttention &first = all.front(),
                       &last = *std::ranges::max_element(
                           all, {}, [](const FoundAttention&one) { return one.of.shape.tokens; });
  const bool on_host = run.context.device->host_accessible();
  document.headline = headline_of_attention(first, last);
  document.key_figures = {
      {"Time, " + first.of.name(), times_text(first)},
      {"Time, " + last.of.name(), times_text(last)},
      {"Memory, " + last.of.name(),
       fmt::format("naive {}, fused {}; scores alone {}",
                   bytes_text(last.fp32(AttentionImplementation::naive).needed_bytes),
                   bytes_text(last.fp32(AttentionImplementation::fused).needed_bytes),
                   human_bytes(last.matrix_bytes("fp32")))}};
  document.evidence = fmt::format(
      "Medians of {} or more runs of each implementation in turn, in fp32; random operands. "
      "Confidence intervals are of ratios of paired runs in this process.",
      std::ranges::min(shapes, {}, &TimedAttention::runs).runs);
  report.why = {why_naive(first), why_fused(on_host), why_times(all, last),
                why_types(first, on_host), why_device(other_device(run.context), on_host)};
  if (std::string warning = recording_warning(all); !warning.empty())
    document.notes.push_back(std::move(warning));
  document.sections = {
      {"",
       {figure_block(speed_figure(all), run.folder() / "attention",
                     "Speedup of fused attention against the tokens of a text, with its 95% "
                     "confidence interval",
                     document.notes),
        figure_block(memory_figure(all), run.folder() / "attention_memory",
                     "Memory per text of naive and fused attention against the tokens of a text",
                     document.notes),
        PageTable{
            overview,
            "Naive and fused attention. Speedup: against naive attention of the same type. "
            "After an operation, at most: the most that intermediate results took after any one "
            "operation, the output included; during the second product, scores and output "
            "exist together, and the predicted memory counts both."}}},
      operators_section(first, fields.operators),
      {"Time by operation, all shapes",
       {PageTable{operators, "Per run: mean of the two faster of three recorded runs."}},
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
        Paragraph{"Scores: the bytes of the matrix, computed from the shape. After an "
                  "operation, at most: the most that intermediate results took after any one "
                  "operation of a recorded run, with the result and without operands. Memory: "
                  "predicted for a run, operands and workspace included."},
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
                          "First call (ms)"),
      field<&L::median_ms>("median_ms", Unit::milliseconds, "Median run; null: not run.",
                           "Median (ms)"),
      inlined<&L::speedup>(),
      field<&L::mean_5>("mean_5", Unit::milliseconds,
                        "Mean of the first run and four that count; null: there were fewer.",
                        "Mean of 5 (ms)"),
      field<&L::mean_20>("mean_20", Unit::milliseconds, "The same of 20 runs.", "Mean of 20"),
      field<&L::mean_100>("mean_100", Unit::milliseconds, "The same of 100 runs.", "Mean of 100"),
      field<&L::score_bytes>("score_bytes", Unit::bytes,
                             "Matrix of scores in memory, computed from the shape: 0 of fused "
                             "attention; null: not run.",
                             "Scores, computed"),
      field<&L::value_bytes>("value_bytes", Unit::bytes,
                             "The most that values took after an operation of a recorded run, "
                             "operands not counted; null: not run.",
                             "After an operation, at most, recorded"),
      field<&L::needed_bytes>("needed_bytes", Unit::bytes,
                              "Predicted for a run, operands included; null: not run.",
                              "Memory, predicted"),
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
      field<&L::call_us>("call_us", Unit::microseconds, "One call.", "Per call (µs)"),
      field<&L::moved_bytes>("moved_bytes", Unit::bytes,
                             "Operands and results of a run, as if no cache held anything.",
                             "Memory traffic"));
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
      .costs = "quick: 30 seconds; paper and full: several minutes",
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
