#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/device_time.h"

// The results of `bench_linear` for programs and for people.
namespace hone {

const Fields& fields_of(const LinearTimes*) {
  using L = LinearTimes;
  static const Fields fields = describe<L>(
      "linear_times",
      "A linear layer with a number of rows in one implementation, timed in turn with the others. "
      "What was not measured is null.",
      field<&L::rows>("rows", "Of x: examples times tokens."),
      field<&L::way>("impl",
                     "fp32, bf16: weight and values are floats; packed: the weight is stored in "
                     "codes; native: x is rounded to codes too, in every run."),
      field<&L::format>("format", "Of the weight; null: it is in floats."),
      field<&L::input_format>("input_format", "Of x; null: it is in floats."),
      field<&L::not_run>("not_run", "Why there are no times; null: there are."),
      field<&L::kernel>("kernel", "Operation / kernel of the product."),
      field<&L::weight_bytes>("weight_bytes", Unit::bytes,
                              "Of the weight: codes, scales and states without padding."),
      field<&L::bytes>("bytes", Unit::bytes, "Of weight, bias, x and y."),
      field<&L::in_cache>("in_cache",
                          "Whether all copies of the weight together fit into the last-level cache "
                          "of the device."),
      field<&L::first_ms>("first_ms", Unit::milliseconds,
                          "Of the first run with so many rows; with preparation where it is the "
                          "first of all.")
          .or_null(),
      field<&L::min_ms>("min_ms", Unit::milliseconds, "Fastest run.").or_null(),
      field<&L::median_ms>("median_ms", Unit::milliseconds, "Median run.").or_null(),
      field<&L::timed_runs>("timed_runs", kTimedRunsMeaning),
      field<&L::rounds_ms>("rounds_ms", Unit::milliseconds, kRoundsMeaning),
      field<&L::gflops>("gflops", Unit::gflop_per_second,
                        "Multiplications and additions of the fastest run.")
          .or_null(),
      field<&L::gbps>("gb_per_s", Unit::gigabytes_per_second, "Those bytes in the fastest run.")
          .or_null(),
      field<&L::share_of_bandwidth>("share_of_bandwidth", Unit::ratio, "Of `bandwidth_gbps`.")
          .or_null(),
      inlined<&L::speedup>(), omitted<&L::flops>(), omitted<&L::peak_gbps>(),
      field<&L::max_difference>(
          "max_difference",
          "Largest difference from results of the CPU in fp32 with the weight "
          "before it was rounded.")
          .or_null(),
      field<&L::relative_difference>("relative_difference", Unit::ratio,
                                     "The same by the largest of those results.")
          .or_null());
  return fields;
}

const Fields& fields_of(const BenchLinearFields*) {
  using B = BenchLinearFields;
  static const Fields fields = describe<B>(
      "bench", "How long a linear layer takes.", field<&B::what>("what", kTimedMeaning),
      field<&B::device>("device", kDeviceMeaning), field<&B::threads>("threads", kThreadsMeaning),
      field<&B::inputs>("inputs", "Columns of x."), field<&B::outputs>("outputs", "Columns of y."),
      field<&B::copies>("copies",
                        "Copies of the weight, which runs use in turn so that it is read from "
                        "memory."),
      field<&B::cache_bytes>("cache_bytes", Unit::bytes, "Last-level cache of the device."),
      field<&B::bandwidth_gbps>("bandwidth_gbps", Unit::gigabytes_per_second,
                                "Peak of memory: of reading on a CPU, of copying on a GPU, read "
                                "plus written."),
      field<&B::times>("times", "Every number of rows, implementation and format."));
  return fields;
}

std::span<const EnumWord> enum_words(ProductWay) {
  static constexpr EnumWord words[] = {{static_cast<int>(ProductWay::fp32), "fp32"},
                                       {static_cast<int>(ProductWay::bf16), "bf16"},
                                       {static_cast<int>(ProductWay::packed), "packed"},
                                       {static_cast<int>(ProductWay::native), "native"}};
  return words;
}

std::string LinearTimes::name() const {
  std::string text(to_string(way));
  if (format) text += " " + *format;
  return text;
}

namespace {

Table linear_table(const std::vector<LinearTimes>& all) {
  Table table({{"rows", "Rows"},
               {"way", "Implementation"},
               {"kernel", "Kernel"},
               {"first_ms", "First (ms)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"speedup", "Speedup"},
               {"weight_bytes", "Weight"},
               {"gb_per_s", "GB/s"},
               {"share_of_bandwidth", "Share of bandwidth"},
               {"in_cache", "In cache"},
               {"gflops", "GFLOP/s"},
               {"relative_difference", "Relative difference"}});
  for (const LinearTimes& t : all) {
    std::vector<Cell> cells = {t.rows, t.name(), t.kernel.value_or("not run")};
    if (t.was_run())
      cells.insert(cells.end(), {real(t.first_ms, 3), real(t.min_ms, 4), real(t.median_ms, 4),
                                 speedup_cell(t.speedup), bytes(*t.weight_bytes), real(t.gbps(), 1),
                                 percent(t.share_of_bandwidth()), *t.in_cache ? "yes" : "no",
                                 real(t.gflops(), 1), significant(t.relative_difference)});
    cells.resize(table.columns().size(), absent);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", grouped(rows));
}

/// The fastest variant of each number of rows; null where nothing was run.
struct FastestLinear {
  std::int64_t rows = 0;
  const LinearTimes* times = nullptr;
};

std::vector<FastestLinear> fastest_linears(const std::vector<LinearTimes>& all) {
  std::vector<FastestLinear> fastest;
  for (const LinearTimes& one : all) {
    if (fastest.empty() || fastest.back().rows != one.rows) fastest.push_back({one.rows});
    const LinearTimes*& best = fastest.back().times;
    if (one.was_run() && (best == nullptr || one.median_ms < best->median_ms)) best = &one;
  }
  return fastest;
}

// "packed int(bits=4), 0.0412 ms, 5.10× faster (95% CI 4.90 to 5.30), 61.0% of the bandwidth of memory"
std::string linear_text(const LinearTimes& one) {
  std::string text = fmt::format("{}, {} ms", one.name(), three_digits(one.median_ms));
  if (one.speedup && one.way != ProductWay::fp32) text += ", " + speedup_text(*one.speedup);
  if (!*one.in_cache)
    text += fmt::format(", {} of the bandwidth of memory", share_text(one.share_of_bandwidth()));
  return text;
}

std::string linear_headline(const FastestLinear& fastest, const std::string& what) {
  if (fastest.times == nullptr) return fmt::format("{}: nothing was run", what);
  const LinearTimes& one = *fastest.times;
  const bool compares = one.speedup && one.way != ProductWay::fp32;
  return fmt::format("{}: fastest with {} is {}{} ({} ms)", what, rows_text(fastest.rows),
                     one.name(), compares ? ", " + speedup_headline(*one.speedup, "fp32") : "",
                     three_digits(one.median_ms));
}

// Why some variants were not run, each reason once.
std::vector<Block> not_run_blocks(const std::vector<LinearTimes>& all) {
  std::vector<Block> blocks;
  for (const LinearTimes& times : all)
    if (!times.was_run() && times.rows == all.front().rows)
      blocks.emplace_back(Paragraph{fmt::format("Not run: {}: {}.", times.name(), *times.not_run)});
  return blocks;
}

std::string copies_text(const BenchLinearFields& bench) {
  const std::string taken =
      bench.copies == 1
          ? "Every run uses the same weight"
          : fmt::format("Runs use {} copies of the weight in turn", grouped(bench.copies));
  const std::string cache = human_bytes(static_cast<double>(bench.cache_bytes));
  if (std::ranges::find(bench.times, std::optional(true), &LinearTimes::in_cache) ==
      bench.times.end())
    return fmt::format("{}, which exceed the cache of {}, so it is read from memory.", taken,
                       cache);
  return fmt::format(
      "{}. Those marked \"in cache\" fit into the cache of {} together: their GB/s say nothing "
      "about memory.",
      taken, cache);
}

}  // namespace

Document linear_document(const BenchLinearFields& bench, const Peak& bandwidth, std::int64_t runs,
                         bool on_host) {
  const std::vector<LinearTimes>& all = bench.times;
  const std::vector<FastestLinear> fastest = fastest_linears(all);
  const std::string where = ran_on(bench.device, bench.threads);
  Document document{.title = fmt::format("{} on {}", bench.what, where),
                    .headline = linear_headline(fastest.front(), capitalized(bench.what))};
  for (const FastestLinear& one : fastest)
    document.key_figures.push_back(
        {rows_text(one.rows), one.times == nullptr ? "nothing was run" : linear_text(*one.times)});
  const bool ran = std::ranges::any_of(all, &LinearTimes::was_run);
  document.evidence = fmt::format("Medians of {} runs in turn on {}.{}", runs, where,
                                  ran ? " " + copies_text(bench) : "");
  std::vector<Block> blocks = not_run_blocks(all);
  blocks.insert(blocks.begin(), PageTable{linear_table(all)});
  document.sections = {
      {"", std::move(blocks)},
      {"How to read this",
       {Paragraph{fmt::format(
            "Bandwidth of memory: {:.1f} GB/s {}, {}. GB/s and GFLOP/s are of the fastest run; "
            "bytes are those of weight, bias, input and output, once each. Shares are ratios of "
            "two "
            "measurements, so they can exceed 100% by the measurement error.",
            bandwidth.value, on_host ? "of reading" : "of copying, read plus written",
            provenance(bandwidth))},
        Paragraph{"packed: the weight is decoded as it is read, inputs are floats. "
                  "native: inputs are rounded too, in every run, and the product multiplies codes. "
                  "Speedup: against fp32. Relative difference: the largest difference from the "
                  "result of the CPU in fp32, divided by the largest result; it includes the "
                  "rounding to the format."}},
       /*folded=*/true}};
  return document;
}

}  // namespace hone
