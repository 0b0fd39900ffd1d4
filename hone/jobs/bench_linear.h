#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/formats/format.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/passes/kept_elements.h"
#include "hone/runtime/context.h"

/// Times one linear layer with its weight in floats and in the codes of formats, against the bandwidth of memory, and with zeros
/// that sparse kernels skip, against the dense product.
namespace hone {

/// fp32, bf16: weight and values are floats. packed: the weight is packed codes, values are fp32 (`packed_linear`). native: inputs
/// are rounded to codes too (`encode_rows` and `native_linear`).
enum class ProductWay : std::uint8_t { fp32, bf16, packed, native };
std::span<const EnumWord> enum_words(ProductWay);
inline std::string_view to_string(ProductWay way) { return word_of(way); }

struct LinearJob {
  std::vector<std::int64_t> rows = {1, 4, 16, 64, 256};  ///< of x: texts times tokens
  std::int64_t inputs = 4096, outputs = 4096;
  std::vector<Format> formats = {};      ///< of packed weights; none: `default_linear_formats`
  std::vector<double> sparsities = {};   ///< shares of zeros below 1, of sparse products
  std::optional<PruneBlock> block = {};  ///< in which zeros come; none: `block_of_kernels`
  std::vector<ProductWay> ways = {ProductWay::fp32, ProductWay::bf16, ProductWay::packed,
                                  ProductWay::native};
  std::int64_t runs = 0;  ///< counted runs; 0: 6 to 20, as many as begin within 2 seconds
  std::uint64_t seed = 0;
};

/// mxint(bits=8) and int(bits=4,per=row); of sparse products int(bits=8,per=row) and int(bits=4,per=row), which have kernels.
std::vector<Format> default_linear_formats(const FormatTable& formats, bool sparse = false);

/// One implementation, in one format of packed weights, with a number of rows, dense or with one share of zeros. All with the
/// same rows took turns. Times of a linear layer are in milliseconds; missing ones are null or NaN.
struct LinearTimes {
  std::int64_t rows = 0;
  ProductWay way = ProductWay::fp32;
  std::optional<std::string> format = {}, input_format = {};  ///< of the weight, and of x
  std::optional<std::string> not_run = {};                    ///< why there are no times
  std::optional<std::string> kernel = {};                     ///< "packed_linear / codes"
  std::optional<std::int64_t> weight_bytes = {}, bytes = {};
  std::optional<std::int64_t> copies = {};  ///< of the weight, which runs use in turn
  std::optional<bool> in_cache = {};
  double flops = 0;
  double first_ms = std::nan(""), min_ms = std::nan(""), median_ms = std::nan("");
  std::vector<double> rounds_ms = {};            ///< of each run, in their order
  double peak_gbps = 0;                          ///< of the device's memory
  std::optional<Interval> median_interval = {};  ///< as `median_interval`; none of too few runs
  std::optional<Speedup> speedup = {};           ///< against fp32; none where that was not run
  std::optional<double> sparsity = {};           ///< share of zeros; none: dense
  std::optional<std::string> block = {};         ///< "1x4", "4x1", "weights"
  std::optional<double> stored = {};             ///< share of the kernel's blocks that are not zero
  std::optional<Speedup> over_dense = {};        ///< against the dense product of the same format
  std::optional<bool> used = {};                 ///< hone would take the sparse kernel
  double max_difference = std::nan(""), relative_difference = std::nan("");

  bool was_run() const { return !not_run; }
  bool is_sparse() const { return sparsity.has_value(); }
  /// Whether the other one is of the same implementation and format.
  bool is_like(const LinearTimes& other) const {
    return way == other.way && format == other.format;
  }
  std::string name() const;  ///< "packed mxint(bits=8,block=32)"
  std::int64_t timed_runs() const { return std::ssize(rounds_ms); }
  double gflops() const { return flops / min_ms * 1e-6; }
  double gbps() const { return static_cast<double>(bytes.value_or(0)) / min_ms * 1e-6; }
  double share_of_bandwidth() const { return gbps() / peak_gbps; }
};
const Fields& fields_of(const LinearTimes*);

/// From which share of zeros on a sparse kernel is shown to be faster than the dense product of the same format, with so many
/// rows.
struct SparseBreakEven {
  std::int64_t rows = 0;
  ProductWay way = ProductWay::fp32;
  std::optional<std::string> format = {};
  std::string block;
  std::int64_t sparsities = 0;            ///< that were measured
  std::optional<double> sparsity = {};    ///< none: not shown
  std::optional<Interval> interval = {};  ///< by the ends of the intervals of speedups
  /// The lowest sparsity that was measured is faster already, so the break-even is there at most.
  bool is_at_most = false;
};
const Fields& fields_of(const SparseBreakEven*);

/// Of every kind of sparse product and number of rows. Between two neighbouring sparsities the ratio of times is taken as linear.
/// Not shown: the 95% interval of the speedup at the highest sparsity contains 1, or lies below it, or there is none.
std::vector<SparseBreakEven> sparse_break_evens(const std::vector<LinearTimes>& times);

/// The result for programs.
struct BenchLinearFields {
  std::string what, device;
  int threads = 0;
  std::int64_t inputs = 0, outputs = 0;
  std::uint64_t cache_bytes = 0;
  double bandwidth_gbps = 0;
  std::vector<LinearTimes> times = {};
  std::vector<SparseBreakEven> break_evens = {};
  std::vector<std::string> no_sparse_kernel = {};  ///< names of those whose zeros nothing skips
  bool interrupted = false;  ///< before all numbers of rows, or all of their runs, were measured
};
const Fields& fields_of(const BenchLinearFields*);

struct LinearResult : JobResult {
  BenchLinearFields bench;
};

/// Times a linear of normal random values with its bias on the device of the context. Runs take copies of the weight in turn, so
/// many that between two runs with the same copy four times the device's last cache are read, but no more than `kMostLinearCopies`, no more
/// than take 2 GiB in fp32, or half of the memory in all variants, and on the host no more than are ready within half a second, or two. What has no kernel on the device is a row that says why.
/// Sparse products follow the dense ones, by sparse kernels even where hone would multiply densely. Once interrupted it returns what
/// was measured. Throws `UserError` where memory is short; `Interrupted` where nothing was measured.
LinearResult bench_linear(const LinearJob& job, Context& context);
inline constexpr std::int64_t kMostLinearCopies = 512;

/// The result for people. `bandwidth` is that of memory, of reading on the host, else of copying. `asked`: numbers of rows.
Document linear_document(const BenchLinearFields& bench, const Peak& bandwidth, std::int64_t asked,
                         bool on_host);

}  // namespace hone
