#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/formats/format.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/paired_times.h"
#include "hone/passes/kept_elements.h"
#include "hone/runtime/context.h"

/// Benchmark of a linear layer with weights in floats and in codes, against the memory bandwidth, and of sparse kernels
/// against the dense product.
namespace hone {

/// fp32, bf16: weight and values are floats. packed: the weight is in packed codes, values are fp32 (`packed_linear`).
/// native: inputs are rounded to codes too (`encode_rows` and `native_linear`).
enum class LinearImplementation : std::uint8_t { fp32, bf16, packed, native };
std::span<const EnumName> enum_names(LinearImplementation);
inline std::string_view to_string(LinearImplementation implementation) {
  return enum_name(implementation);
}

struct LinearJob {
  std::vector<std::int64_t> rows = {1, 4, 16, 64, 256};  ///< rows of x: texts times tokens
  std::int64_t inputs = 4096, outputs = 4096;
  std::vector<Format> formats = {};     ///< of packed weights; empty: `default_linear_formats`
  std::vector<double> sparsities = {};  ///< shares of zeros in sparse products, below 1
  std::optional<PruneBlock> block =
      {};  ///< shape of the zero blocks; empty: `default_sparse_block`
  std::vector<LinearImplementation> implementations = {
      LinearImplementation::fp32, LinearImplementation::bf16, LinearImplementation::packed,
      LinearImplementation::native};
  std::int64_t runs = 0;  ///< counted runs; 0: as many as begin within 2 seconds, 6 to 20
  std::uint64_t seed = 0;
};

/// Returns mxint(bits=8) and int(bits=4,per=row) or, for sparse products, int(bits=8,per=row) and int(bits=4,per=row),
/// which have sparse kernels.
std::vector<Format> default_linear_formats(const FormatTable& formats, bool sparse = false);

/// Times of one implementation, in milliseconds per linear, with one weight format and number of rows, dense or with
/// one share of zeros. All with the same rows take turns. Missing times are null or NaN.
struct LinearTimes {
  std::int64_t rows = 0;
  LinearImplementation implementation = LinearImplementation::fp32;
  std::optional<std::string> format = {}, input_format = {};  ///< of the weight, and of x
  std::optional<std::string> not_run = {};                    ///< why there are no times
  std::optional<std::string> kernel = {};                     ///< "packed_linear / codes"
  std::optional<std::int64_t> weight_bytes = {}, bytes = {};
  std::optional<std::int64_t> copies = {};  ///< of the weight, used by runs in turn
  std::optional<bool> in_cache = {};
  double flops = 0;
  double first_ms = std::nan(""), min_ms = std::nan(""), median_ms = std::nan("");
  std::vector<double> rounds_ms = {};            ///< of each run, in order
  double peak_gbps = 0;                          ///< memory bandwidth of the device
  std::optional<Interval> median_interval = {};  ///< see `median_interval`; empty with too few runs
  std::optional<Speedup> speedup = {};           ///< over fp32; empty if that was not run
  std::optional<double> sparsity = {};           ///< share of zeros; empty: dense
  std::optional<std::string> block = {};         ///< "1x4", "4x1", "weights"
  std::optional<double> stored = {};             ///< share of the kernel's blocks that are nonzero
  std::optional<Speedup> over_dense = {};        ///< over the dense product of the same format
  std::optional<bool> used = {};                 ///< whether hone would use the sparse kernel
  double max_difference = std::nan(""), relative_difference = std::nan("");

  bool was_run() const { return !not_run; }
  bool is_sparse() const { return sparsity.has_value(); }
  /// Returns whether the other has the same implementation and format.
  bool is_like(const LinearTimes& other) const {
    return implementation == other.implementation && format == other.format;
  }
  std::string name() const;  ///< "packed mxint(bits=8,block=32)"
  std::int64_t timed_runs() const { return std::ssize(rounds_ms); }
  double gflops() const { return flops / min_ms * 1e-6; }
  double gbps() const { return static_cast<double>(bytes.value_or(0)) / min_ms * 1e-6; }
  double share_of_bandwidth() const { return gbps() / peak_gbps; }
};
const Fields& fields_of(const LinearTimes*);

/// The sparsity from which on a sparse kernel is shown to be faster than the dense product of the same format, with
/// this many rows.
struct SparseBreakEven {
  std::int64_t rows = 0;
  LinearImplementation implementation = LinearImplementation::fp32;
  std::optional<std::string> format = {};
  std::string block;
  std::int64_t sparsities = 0;            ///< number of measured sparsities
  std::optional<double> sparsity = {};    ///< empty: not shown
  std::optional<Interval> interval = {};  ///< from the ends of the speedups' intervals
  /// Whether the lowest measured sparsity is already faster, so that the break-even is at most this.
  bool is_at_most = false;
};
const Fields& fields_of(const SparseBreakEven*);

/// Returns the break-even of each kind of sparse product and number of rows. Time ratios are interpolated linearly
/// between neighboring sparsities. Not shown: the 95% interval of the speedup at the highest sparsity is missing, or
/// does not lie above 1.
std::vector<SparseBreakEven> sparse_break_evens(const std::vector<LinearTimes>& times);

/// The JSON result.
struct BenchLinearFields {
  std::string what, device;
  int threads = 0;
  std::int64_t inputs = 0, outputs = 0;
  std::uint64_t cache_bytes = 0;
  double bandwidth_gbps = 0;
  std::vector<LinearTimes> times = {};
  std::vector<SparseBreakEven> break_evens = {};
  std::vector<std::string> no_sparse_kernel = {};  ///< products without a sparse kernel
  bool interrupted = false;  ///< before all numbers of rows, or all of their runs, were measured
};
const Fields& fields_of(const BenchLinearFields*);

struct LinearResult : JobResult {
  BenchLinearFields bench;
};

/// Times a linear with bias and normal random values on the device of the context. Runs use copies of the weight in
/// turn, enough to read four times the last-level cache between two runs with the same copy. The copies are limited to
/// `kMostLinearCopies`, to 2 GiB in fp32, and to half of the memory over all variants. On the host they are also
/// limited to those prepared within half a second, but at least two. A variant without a kernel on the device is a row
/// with the reason. Sparse products follow the dense ones and use sparse kernels even where hone would multiply
/// densely. If interrupted, returns what was measured. Throws `UserError` if memory is short; `Interrupted` if nothing
/// was measured.
LinearResult bench_linear(const LinearJob& job, Context& context);
inline constexpr std::int64_t kMostLinearCopies = 512;

/// Returns the report. `bandwidth` is of reading on the host, of copying on a GPU. `asked`: how many numbers of rows
/// were requested.
Document linear_document(const BenchLinearFields& bench, const Peak& bandwidth, std::int64_t asked,
                         bool on_host);

}  // namespace hone
