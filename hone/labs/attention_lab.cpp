#include "hone/labs/attention_lab.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
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
  // In the type that every device and shape is run in.
  const AttentionTimesResult& fp32(AttentionWay way) const {
    const AttentionTimesResult* row = times("fp32", way);
    HONE_ASSERT(row != nullptr, "no {} attention in fp32", to_string(way));
    return *row;
  }
  double matrix_bytes(std::string_view dtype) const {
    const auto type = std::ranges::find(kAttentionTypes, dtype, &AttentionType::name);
    return of.shape.scores() * static_cast<double>(info(type->dtype).size_bytes);
  }
  // What scores take of memory, by the shape.
  std::int64_t score_bytes(const AttentionTimesResult& row) const {
    return row.impl == AttentionWay::naive ? std::llround(matrix_bytes(row.dtype)) : 0;
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
                            .score_bytes = found.score_bytes(row),
                            .value_bytes = row.value_bytes,
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
                        .call_us = one.call_us,
                        // Back from the rate: bytes by milliseconds.
                        .moved_bytes = std::llround(one.gbps.value_or(0) * one.ms * 1e6)});
  return rows;
}

// Both implementations of one shape and type, each under the sum of its operations.
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
  for (const AttentionWay way : {AttentionWay::naive, AttentionWay::fused}) {
    const std::string impl(to_string(way));
    LabOperatorResult sum;
    for (const LabOperatorResult& row : rows)
      if (row.impl == way) {
        sum.calls += row.calls;
        sum.self_ms += row.self_ms;
        sum.moved_bytes += row.moved_bytes;
      }
    table.add_row({impl, "all", absent, sum.calls, absent, real(sum.self_ms, 3), percent(1), absent,
                   bytes(sum.moved_bytes)});
    for (const LabOperatorResult& row : rows)
      if (row.impl == way)
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
        fmt::format("{}, mean of the faster half of three recorded runs. Operations contain no "
                    "others, so self time is total time. Memory traffic: operands and results of "
                    "each operation, counted without caches.",
                    type.name)});
  }
  return section;
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
  Axis tokens_axis{.label = "Tokens", .logarithmic = true};
  Series matrix{.label = "matrix of scores in fp32, computed", .draw = Draw::line};
  std::map<std::int64_t, double> matrices;  // of a text, by its tokens
  for (const FoundAttention& found : all)
    matrices[found.of.shape.tokens] =
        found.matrix_bytes("fp32") / (1 << 20) / static_cast<double>(found.of.shape.texts);
  for (const auto& [tokens, mebibytes] : matrices) {
    tokens_axis.ticks.push_back({static_cast<double>(tokens), fmt::format("{}", tokens)});
    matrix.points.push_back({.x = static_cast<double>(tokens), .y = mebibytes});
  }
  Panel speed{.title = "Fused against naive", .x = tokens_axis, .y = {.label = "Speedup"}};
  Panel memory{.title = "Memory per text",
               .x = tokens_axis,
               .y = {.label = "MiB", .logarithmic = true},
               .series = {std::move(matrix)}};
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

// "naive 17.0 ms, fused 15.6 ms: 1.17× faster (95% CI 1.08 to 1.19)"
std::string times_text(const FoundAttention& found) {
  const AttentionTimesResult& fused = found.fp32(AttentionWay::fused);
  return fmt::format("naive {} ms, fused {} ms: {}",
                     three_digits(found.fp32(AttentionWay::naive).median_ms),
                     three_digits(fused.median_ms), speedup_text(fused.speedup.value()));
}

std::string bytes_text(const std::optional<std::int64_t>& count) {
  return human_bytes(static_cast<double>(count.value()));
}

std::string headline_of_attention(const FoundAttention& found) {
  const AttentionTimesResult &naive = found.fp32(AttentionWay::naive),
                             &fused = found.fp32(AttentionWay::fused);
  return fmt::format(
      "Naive attention of {} in fp32 writes a matrix of {} of scores to memory, fused attention "
      "none: values take {} instead of {}. In time, on {}: {}",
      found.of.name(), human_bytes(found.matrix_bytes("fp32")), bytes_text(fused.value_bytes),
      bytes_text(naive.value_bytes), ran_on(found.fields.device, found.fields.threads),
      speedup_text(fused.speedup.value()));
}

std::string why_naive(const FoundAttention& first, const FoundAttention& last) {
  constexpr int kPasses = 6;
  const AttentionShape& s = first.of.shape;
  return fmt::format(
      "Both implementations compute softmax(QKᵀ/√d)V with the same {} GFLOP of products ({}). "
      "Naive "
      "attention stores the scores of all heads: {} × {} × {}² × 4 bytes = {} in fp32, and {} for "
      "{}. The first product writes this matrix, scale and softmax each read and write it, and the "
      "second product reads it: six passes, {} of traffic for the caches or the memory. In the "
      "recorded run, values took up to {}.",
      three_digits(first.fields.gflop), first.of.name(), s.texts, s.heads, s.tokens,
      human_bytes(first.matrix_bytes("fp32")), human_bytes(last.matrix_bytes("fp32")),
      last.of.name(), human_bytes(kPasses * first.matrix_bytes("fp32")),
      bytes_text(first.fp32(AttentionWay::naive).value_bytes));
}

std::string why_fused(const FoundAttention& first, const FoundAttention& last, bool on_host) {
  return fmt::format(
      "Fused attention never has the whole matrix (FlashAttention, Dao et al., 2022). It takes a "
      "block of queries through the keys and values, block by block. For each query it keeps the "
      "maximum m of the scores so far, the sum of exp(score − m), and the values summed with these "
      "weights (online softmax, Milakov and Gimelshein, 2018). When a block raises m, both sums "
      "are multiplied by exp(m_old − m_new); at the end one is divided by the other. The scores of "
      "a block stay {}. Only results are written: values took {} here. Memory grows with the "
      "number "
      "of tokens, not with its square: {} takes {} instead of {}, operands included.",
      on_host ? "in the first caches of a core" : "in registers and shared memory",
      bytes_text(first.fp32(AttentionWay::fused).value_bytes), last.of.name(),
      bytes_text(last.fp32(AttentionWay::fused).needed_bytes),
      bytes_text(last.fp32(AttentionWay::naive).needed_bytes));
}

// Chosen by the intervals of this run.
std::string why_times(const std::vector<FoundAttention>& all) {
  std::string text = "Times in fp32:";
  std::ptrdiff_t faster = 0, slower = 0;
  for (const FoundAttention& found : all) {
    const Speedup& speedup = found.fp32(AttentionWay::fused).speedup.value();
    faster += speedup.shown_faster() ? 1 : 0;
    slower += speedup.shown_slower() ? 1 : 0;
    text += fmt::format("{} {}, {}", &found == &all.front() ? "" : ";", found.of.name(),
                        speedup_text(speedup));
  }
  double passes_ms = 0, all_ms = 0;
  for (const OperatorTimeResult& one : all.front().fp32(AttentionWay::naive).operators.value()) {
    all_ms += one.ms;
    if (one.operation == "scale" || one.operation == "softmax") passes_ms += one.ms;
  }
  text += fmt::format(
      ". In the recorded naive run of {}, scale and softmax took {} of {} ms: passes over the "
      "matrix without a product. ",
      all.front().of.name(), three_digits(passes_ms), three_digits(all_ms));
  if (faster == std::ssize(all))
    return text +
           "Fused attention is shown to be faster for every shape: the products cost the "
           "same, and these passes are gone.";
  if (slower > 0)
    return text + fmt::format(
                      "This contradicts a gain in time for {} of {} shapes: there, blocks "
                      "cost more than the traffic that they save. The memory is saved all "
                      "the same.",
                      slower, all.size());
  return text + fmt::format(
                    "This run shows fused attention to be faster for {} of {} shapes; "
                    "where it does not, the memory is saved all the same. More runs on an "
                    "idle machine, or longer texts, would show a smaller difference.",
                    faster, all.size());
}

std::string why_types(const FoundAttention& found, bool on_host) {
  std::string text = fmt::format("By type, for {}:", found.of.name());
  for (const AttentionType& type : kAttentionTypes) {
    const AttentionTimesResult* fused = found.times(type.name, AttentionWay::fused);
    if (fused == nullptr) continue;
    text += fmt::format("{} {} {}, largest difference {} of the largest result",
                        type.dtype == DType::f32 ? "" : ";", type.name,
                        speedup_text(fused->speedup.value()),
                        three_digits(fused->relative_difference.value()));
  }
  text +=
      ". Both compute the same function; sums in another order and rounded scores make the "
      "difference.";
  if (on_host)
    text +=
        " On a CPU, hone widens fp16 to fp32: naive attention widens and rounds the matrix at "
        "each of its operations, fused attention widens its operands once.";
  return text;
}

std::string why_device(const OtherDevice& other, bool on_host) {
  if (!on_host)
    return fmt::format(
        "This run is on a GPU, where the same holds with other numbers: chip memory "
        "is shared memory and registers, and the matrix passes through the memory "
        "of the GPU. On the CPU: {}.",
        other.why_not);
  return fmt::format(
      "On CUDA: {}. The same holds there: scores stay in registers and shared "
      "memory instead of passing through the memory of the GPU; `hone lab 4.2 "
      "--device cuda` measures it.",
      other.why_not);
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
  const FoundAttention &first = all.front(),
                       &last = *std::ranges::max_element(
                           all, {}, [](const FoundAttention&one) { return one.of.shape.tokens; });
  const bool on_host = run.context.device->host_accessible();
  document.headline = headline_of_attention(first);
  document.key_figures = {{"Time, " + first.of.name(), times_text(first)},
                          {"Time, " + last.of.name(), times_text(last)},
                          {"Memory, " + last.of.name(),
                           fmt::format("naive {}, fused {}; scores alone {}",
                                       bytes_text(last.fp32(AttentionWay::naive).needed_bytes),
                                       bytes_text(last.fp32(AttentionWay::fused).needed_bytes),
                                       human_bytes(last.matrix_bytes("fp32")))}};
  document.evidence = fmt::format(
      "Medians of {} or more runs of each implementation in turn, in fp32; random operands. "
      "Confidence intervals are of ratios of paired runs, in this process alone.",
      std::ranges::min(shapes, {}, &TimedAttention::runs).runs);
  report.why = {why_naive(first, last), why_fused(first, last, on_host), why_times(all),
                why_types(first, on_host), why_device(other_device(run.context), on_host)};
  document.sections = {
      {"",
       {figure_block(attention_figure(all), run.folder() / "attention",
                     "Speedup of fused attention, and its memory, against the tokens of a text",
                     document.notes),
        PageTable{overview, "Naive and fused attention."}}},
      operators_section(first, fields.operators),
      {"Time by operation, all shapes", {PageTable{operators, "Per run."}}, /*folded=*/true},
      {"Published results",
       {PageTable{published_table(fields.published),
                  "Other machines and another program, for orientation only."}},
       /*folded=*/true},
      {"How to read this",
       {Paragraph{"Implementations of a type took turns, after two uncounted runs each; runs below "
                  "a millisecond are timed many in a row. Speedup: against naive attention of the "
                  "same type, the median of the ratios with its 95% confidence interval. Means "
                  "include the first run."},
        Paragraph{"Scores: the bytes of the matrix, computed from the shape. Values: the most that "
                  "values took after an operation of a recorded run, operands not counted. Memory: "
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
                          "First (ms)"),
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
                             "Values, recorded"),
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
