#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/device_time.h"

// The JSON result and the report of `bench_linear`.
namespace hone {

const Fields& fields_of(const LinearTimes*) {
  using L = LinearTimes;
  static const Fields fields = describe<L>(
      "linear_times",
      "A linear layer with a number of rows in one implementation, timed in turn with the others. "
      "What was not measured is null.",
      field<&L::rows>("rows", "Of x: examples times tokens."),
      field<&L::implementation>(
          "impl",
          "fp32, bf16: weight and values are floats; packed: the weight is stored in "
          "codes; native: x is rounded to codes too, in every run."),
      field<&L::format>("format", "Of the weight; null: it is in floats."),
      field<&L::input_format>("input_format", "Of x; null: it is in floats."),
      field<&L::not_run>("not_run", "Why there are no times; null: there are."),
      field<&L::kernel>("kernel", "Operation / kernel of the product."),
      field<&L::weight_bytes>(
          "weight_bytes", Unit::bytes,
          "Of the weight: codes, scales and states without padding; of a sparse "
          "kernel with indices."),
      field<&L::bytes>("bytes", Unit::bytes, "Of weight, bias, x and y."),
      field<&L::copies>("copies",
                        "Copies of the weight, which runs use in turn so that it is read from "
                        "memory."),
      field<&L::in_cache>("in_cache",
                          "Whether the last-level cache of the device holds all weights that are "
                          "read between two runs with the same copy."),
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
      field<&L::median_interval>("median_interval", Unit::milliseconds,
                                 "95% interval of the median by the sign test; null: of fewer than "
                                 "6 runs."),
      inlined<&L::speedup>(), omitted<&L::flops>(), omitted<&L::peak_gbps>(),
      field<&L::sparsity>(
          "sparsity", Unit::share,
          "Share of the blocks of the weight that are zero; null: a dense product."),
      field<&L::block>(
          "block", "Rows x columns that are zero together: 1x4, 4x1, or weights for single ones."),
      field<&L::stored>("stored", Unit::share,
                        "Share of the sparse kernel's blocks that are not zero."),
      field<&L::over_dense>(
          "over_dense", "Speedup over the dense product of the same implementation and format."),
      field<&L::used>(
          "used",
          "hone would use the sparse kernel here; false: it multiplies zeros like other "
          "weights."),
      field<&L::max_difference>(
          "max_difference",
          "Largest difference from results of the CPU in fp32 with the weight "
          "before it was rounded, zeros included.")
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
      field<&B::cache_bytes>("cache_bytes", Unit::bytes, "Last-level cache of the device."),
      field<&B::bandwidth_gbps>("bandwidth_gbps", Unit::gigabytes_per_second,
                                "Peak of memory: of reading on a CPU, of copying on a GPU, read "
                                "plus written."),
      field<&B::times>("times", "Every number of rows, implementation, format and sparsity."),
      field<&B::break_evens>("break_evens", "From which sparsity on sparse kernels are faster."),
      field<&B::no_sparse_kernel>(
          "no_sparse_kernel",
          "Dense products of which hone has no sparse kernel; empty where no "
          "sparsity was given."),
      field<&B::interrupted>("interrupted",
                             "It was stopped early: numbers of rows, or runs of the last one, are "
                             "missing."));
  return fields;
}

const Fields& fields_of(const SparseBreakEven*) {
  using S = SparseBreakEven;
  static const Fields fields = describe<S>(
      "sparse_break_even",
      "From which share of zeros on a sparse kernel is faster than the dense product.",
      field<&S::rows>("rows", "Of x: examples times tokens."),
      field<&S::implementation>("impl", "As in `times`."),
      field<&S::format>("format", "Of the weight; null: it is in floats."),
      field<&S::block>("block", "As in `times`."),
      field<&S::sparsities>("sparsities", "Sparsities that were measured."),
      field<&S::sparsity>("sparsity", Unit::share,
                          "Interpolated between neighbouring sparsities; null: not shown to be "
                          "faster at the highest one."),
      field<&S::interval>("interval", Unit::share,
                          "The same with the lower and upper ends of the 95% intervals of the "
                          "speedups; null: not shown."),
      field<&S::is_at_most>("at_most", "The lowest sparsity that was measured is faster already."));
  return fields;
}

std::span<const EnumName> enum_names(LinearImplementation) {
  static constexpr EnumName words[] = {{static_cast<int>(LinearImplementation::fp32), "fp32"},
                                       {static_cast<int>(LinearImplementation::bf16), "bf16"},
                                       {static_cast<int>(LinearImplementation::packed), "packed"},
                                       {static_cast<int>(LinearImplementation::native), "native"}};
  return words;
}

std::string LinearTimes::name() const {
  std::string text(to_string(implementation));
  if (format) text += " " + *format;
  return text;
}

namespace {

Table linear_table(const std::vector<LinearTimes>& all) {
  Table table({{"rows", "Rows"},
               {"way", "Implementation"},
               {"kernel", "Kernel"},
               {"first_ms", "First call (ms)"},
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
    if (t.is_sparse()) continue;
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

// "yes", "no, though faster here": hone's choice, and whether these times contradict it.
std::string choice_text(const LinearTimes& t) {
  const std::string text = *t.used ? "yes" : "no";
  if (*t.used && t.over_dense && t.over_dense->shown_slower()) return text + ", though slower here";
  if (!*t.used && t.over_dense && t.over_dense->shown_faster())
    return text + ", though faster here";
  return text;
}

Table sparse_table(const std::vector<LinearTimes>& all) {
  Table table({{"rows", "Rows"},
               {"way", "Implementation"},
               {"sparsity", "Sparsity"},
               {"block", "Block"},
               {"median_ms", "Median (ms)"},
               {"over_dense", "Speedup over dense"},
               {"speedup", "Speedup over fp32"},
               {"weight_bytes", "Weight, indices included"},
               {"stored", "Blocks not zero"},
               {"used", "hone uses it"}});
  for (const LinearTimes& t : all)
    if (t.is_sparse() && t.was_run())
      table.add_row({t.rows, t.name(), percent(*t.sparsity), *t.block,
                     t.median_interval ? number_within(t.median_ms, t.median_interval->low,
                                                       t.median_interval->high)
                                       : real(t.median_ms, 4),
                     speedup_cell(t.over_dense), speedup_cell(t.speedup), bytes(*t.weight_bytes),
                     percent(*t.stored), choice_text(t)});
  return table;
}

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", grouped(rows));
}

/// The fastest dense and sparse variants with a number of rows; null if none was run.
struct FastestLinear {
  std::int64_t rows = 0;
  const LinearTimes* times = nullptr;
  const LinearTimes* sparse = nullptr;
};

std::vector<FastestLinear> fastest_linears(const std::vector<LinearTimes>& all) {
  std::vector<FastestLinear> fastest;
  for (const LinearTimes& one : all) {
    if (fastest.empty() || fastest.back().rows != one.rows) fastest.push_back({one.rows});
    FastestLinear& row = fastest.back();
    const LinearTimes*& best = one.is_sparse() ? row.sparse : row.times;
    if (one.was_run() && (best == nullptr || one.median_ms < best->median_ms)) best = &one;
  }
  return fastest;
}

// "packed int(bits=4), 0.0412 ms, 5.10× faster in paired rounds (95% CI 4.90 to 5.30), 61.0% of the bandwidth of
// memory"
std::string linear_text(const LinearTimes& one) {
  std::string text = fmt::format("{}, {} ms", one.name(), three_digits(one.median_ms));
  if (one.speedup && (one.is_sparse() || one.implementation != LinearImplementation::fp32))
    text += ", " + paired_speedup_text(*one.speedup);
  if (!*one.in_cache)
    text += fmt::format(", {} of the bandwidth of memory", share_text(one.share_of_bandwidth()));
  return text;
}

// "1 row", or "1 row, 90.0% zeros".
std::string case_text(const LinearTimes& one) {
  return rows_text(one.rows) +
         (one.is_sparse() ? fmt::format(", {} zeros", share_text(*one.sparsity)) : "");
}

// "fastest with 1 row is native int(bits=8): 0.00889 ms, 2.13× faster than fp32"
std::string fastest_text(const LinearTimes& one) {
  const bool compares =
      one.speedup && (one.is_sparse() || one.implementation != LinearImplementation::fp32);
  return fmt::format(
      "fastest with {} is {}: {} ms{}", case_text(one), one.name(), three_digits(one.median_ms),
      compares ? ", " + speedup_headline(*one.speedup, one.is_sparse() ? "dense fp32" : "fp32")
               : "");
}

std::string linear_headline(const FastestLinear& fastest, const std::string& what) {
  if (fastest.times == nullptr) return fmt::format("{}: nothing was run", what);
  return fmt::format("{}: {}{}", what, fastest_text(*fastest.times),
                     fastest.sparse == nullptr ? "" : "; " + fastest_text(*fastest.sparse));
}

// Counts the noisy speedups; "" if there are none.
std::string noise_text(const std::vector<LinearTimes>& all) {
  std::int64_t noisy = 0, speedups = 0;
  for (const LinearTimes& one : all)
    for (const auto* speedup : {&one.speedup, &one.over_dense})
      if (*speedup && (*speedup)->interval) {
        ++speedups;
        noisy += (*speedup)->noisy() ? 1 : 0;
      }
  if (noisy == 0) return "";
  return fmt::format(
      "{} of {} speedups are noisy: one end of the interval is more than 1.5 times the other. "
      "Repeat them on an idle machine.",
      grouped(noisy), grouped(speedups));
}

// Says why variants were not run.
std::vector<Block> not_run_blocks(const std::vector<LinearTimes>& all) {
  std::vector<Block> blocks;
  for (const LinearTimes& times : all)
    if (!times.was_run() && !times.is_sparse() && times.rows == all.front().rows)
      blocks.emplace_back(Paragraph{fmt::format("Not run: {}: {}.", times.name(), *times.not_run)});
  return blocks;
}

// "6 to 20"
std::string range_text(std::int64_t low, std::int64_t high) {
  return low == high ? grouped(low) : fmt::format("{} to {}", grouped(low), grouped(high));
}

// Formats the smallest and largest value of the variants that were run.
template <typename Value>
std::string range_of(const std::vector<LinearTimes>& all, Value value) {
  std::vector<std::int64_t> values;
  for (const LinearTimes& one : all)
    if (one.was_run()) values.push_back(value(one));
  const auto [low, high] = std::ranges::minmax(values);
  return range_text(low, high);
}

std::string copies_text(const BenchLinearFields& bench) {
  const std::string copies = range_of(bench.times, [](const LinearTimes& t) { return *t.copies; });
  const std::string taken = copies == "1"
                                ? "Every run uses the same weight"
                                : fmt::format("Runs use {} copies of the weight in turn", copies);
  const std::string cache = human_bytes(static_cast<double>(bench.cache_bytes));
  if (std::ranges::find(bench.times, std::optional(true), &LinearTimes::in_cache) ==
      bench.times.end())
    return fmt::format(
        "{}. More than the cache of {} is read between two runs with the same copy, so weights "
        "come from memory.",
        taken, cache);
  return fmt::format(
      "{}. Weights marked \"in cache\" stay in the cache of {}: their GB/s say nothing about "
      "memory.",
      taken, cache);
}

// "from 62.0% zeros on (95% CI 58.1 to 66.0%) with 16 rows", "at every sparsity measured, from 50.0% zeros on, with 256
// rows (95% CI: at the latest from 74.1% zeros on), noisy"
std::string faster_from_text(const SparseBreakEven& one, bool is_noisy) {
  const Interval& range = one.interval.value();
  const std::string rows = rows_text(one.rows), noisy = is_noisy ? ", noisy" : "";
  if (one.is_at_most)
    return fmt::format(
        "at every sparsity measured, from {} zeros on, with {}{}{}", share_text(*one.sparsity),
        rows,
        range.low < range.high
            ? fmt::format(" (95% CI: at the latest from {} zeros on)", share_text(range.high))
            : "",
        noisy);
  return fmt::format("from {} zeros on (95% CI {} to {}%) with {}{}", share_text(*one.sparsity),
                     percent_number(range.low), percent_number(range.high), rows, noisy);
}

// Returns whether a speedup behind the break-even is noisy.
bool is_noisy(const SparseBreakEven& even, const std::vector<LinearTimes>& all) {
  return std::ranges::any_of(all, [&](const LinearTimes& one) {
    return one.is_sparse() && one.rows == even.rows && one.implementation == even.implementation &&
           one.format == even.format && one.block == even.block && one.over_dense &&
           one.over_dense->noisy();
  });
}

// Describes the break-evens of each implementation and format, for all numbers of rows together.
std::vector<Block> break_even_blocks(const BenchLinearFields& bench) {
  std::vector<Block> blocks;
  for (const SparseBreakEven& first : bench.break_evens) {
    if (first.rows != bench.break_evens.front().rows) break;
    std::vector<std::string> shown, not_shown;
    for (const SparseBreakEven& one : bench.break_evens) {
      if (one.implementation != first.implementation || one.format != first.format ||
          one.block != first.block)
        continue;
      if (one.sparsity)
        shown.push_back(faster_from_text(one, is_noisy(one, bench.times)));
      else
        not_shown.push_back(rows_text(one.rows));
    }
    std::string text = fmt::format(
        "{}, zeros {}, {} inputs, {} outputs, {}: ",
        LinearTimes{.implementation = first.implementation, .format = first.format}.name(),
        first.block == "weights" ? "as single weights" : "in blocks of " + first.block,
        grouped(bench.inputs), grouped(bench.outputs), processor_text(bench.device, bench.threads));
    if (!shown.empty()) text += fmt::format("faster than dense {}", fmt::join(shown, ", "));
    if (!not_shown.empty())
      text += fmt::format("{}not shown to be faster than dense at the highest sparsity with {}",
                          shown.empty() ? "" : "; ", fmt::join(not_shown, ", "));
    blocks.emplace_back(Paragraph{text + "."});
  }
  return blocks;
}

Section sparse_section(const BenchLinearFields& bench) {
  Section section{"Zeros", break_even_blocks(bench)};
  if (!bench.break_evens.empty())
    section.blocks.emplace_back(PageTable{sparse_table(bench.times),
                                          "Sparse kernels, timed in turn with the dense products "
                                          "above. Medians and speedups have 95% "
                                          "confidence intervals by the sign test."});
  if (!bench.no_sparse_kernel.empty())
    section.blocks.emplace_back(
        Paragraph{fmt::format("No sparse kernel, so zeros are multiplied like other weights: {}.",
                              fmt::join(bench.no_sparse_kernel, "; "))});
  return section;
}

constexpr const char* kSparseMeaning =
    "Zeros: the blocks of the weight with the smallest magnitudes. The break-even is where the "
    "median times of sparse and dense are equal, on a line between the ratios of neighbouring "
    "sparsities; its range is that of the ends of their 95% intervals. It is not shown unless the "
    "interval at the highest sparsity is above 1. Sparse products take the sparse kernel even "
    "where hone, which decides by the share of blocks that are not zero and the rows, would "
    "multiply densely. "
    "\"though slower here\" and \"though faster here\": the confidence interval contradicts that "
    "choice on this machine. No option changes it. "
    "Sparse bf16: the weight is in bf16, inputs and results are fp32; hone uses no such kernel.";

}  // namespace

Document linear_document(const BenchLinearFields& bench, const Peak& bandwidth, std::int64_t asked,
                         bool on_host) {
  const std::vector<LinearTimes>& all = bench.times;
  const std::vector<FastestLinear> fastest = fastest_linears(all);
  const std::string where = processor_text(bench.device, bench.threads);
  Document document{.title = fmt::format("{} on {}", bench.what, where),
                    .headline = linear_headline(fastest.front(), capitalized(bench.what))};
  if (bench.interrupted) document.headline += ", incomplete";
  for (const FastestLinear& one : fastest) {
    document.key_figures.push_back(
        {rows_text(one.rows), one.times == nullptr ? "nothing was run" : linear_text(*one.times)});
    if (one.sparse != nullptr)
      document.key_figures.push_back({case_text(*one.sparse), linear_text(*one.sparse)});
  }
  std::vector<std::string> evidence;
  if (bench.interrupted)
    evidence.push_back(fmt::format(
        "Incomplete: interrupted after {} of {} numbers of rows; the last one may have fewer runs.",
        fastest.size(), asked));
  if (std::ranges::any_of(all, &LinearTimes::was_run)) {
    const std::string runs = range_of(all, [](const LinearTimes& t) { return t.timed_runs(); });
    evidence.push_back(
        fmt::format("Medians of {} runs in turn on {}. {}", runs, where, copies_text(bench)));
  }
  if (std::string noise = noise_text(all); !noise.empty()) evidence.push_back(std::move(noise));
  document.evidence = fmt::format("{}", fmt::join(evidence, " "));
  std::vector<Block> blocks = not_run_blocks(all);
  blocks.insert(blocks.begin(), PageTable{linear_table(all)});
  document.sections = {
      {"", std::move(blocks)},
      {"How to read this",
       {Paragraph{fmt::format(
            "Bandwidth of memory: {:.1f} GB/s {}, {}. GB/s and GFLOP/s are of the fastest run; "
            "bytes are those of weight, bias, input and output, once each. A share above 100% "
            "means that the run moved bytes faster than the loop that measured the bandwidth: from "
            "a cache, or for a reason that was not measured.",
            bandwidth.value, on_host ? "of reading" : "of copying, read plus written",
            provenance(bandwidth))},
        Paragraph{"packed: the weight is decoded as it is read, inputs are floats. "
                  "native: inputs are rounded too, in every run, and the product multiplies codes. "
                  "Speedup: against fp32. Relative difference: the largest difference from the "
                  "result of the CPU in fp32, divided by the largest result; it includes the "
                  "rounding to the format."}},
       /*folded=*/true}};
  if (std::ranges::any_of(all, &LinearTimes::is_sparse) || !bench.no_sparse_kernel.empty()) {
    document.sections.back().blocks.emplace_back(Paragraph{kSparseMeaning});
    document.sections.insert(document.sections.begin() + 1, sparse_section(bench));
  }
  return document;
}

}  // namespace hone
