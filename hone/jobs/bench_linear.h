#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/formats/format.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/runtime/context.h"

/// Times one linear layer with its weight in floats and in the codes of formats, against the bandwidth of memory.
namespace hone {

/// fp32, bf16: weight and values are floats. packed: the weight is packed codes, values are fp32 (`packed_linear`). native: inputs
/// are rounded to codes too (`encode_rows` and `native_linear`).
enum class ProductWay : std::uint8_t { fp32, bf16, packed, native };
inline constexpr std::string_view kProductWays[] = {"fp32", "bf16", "packed", "native"};
std::string_view to_string(ProductWay way);
std::span<const EnumWord> enum_words(ProductWay);

struct LinearJob {
  std::vector<std::int64_t> rows = {1, 4, 16, 64, 256};  ///< of x: texts times tokens
  std::int64_t inputs = 4096, outputs = 4096;
  std::vector<Format> formats = {};  ///< of packed weights; none: `default_linear_formats`
  std::vector<ProductWay> ways = {ProductWay::fp32, ProductWay::bf16, ProductWay::packed,
                                  ProductWay::native};
  std::int64_t runs = 0;  ///< counted runs; 0: 20
  std::uint64_t seed = 0;
};

/// mxint(bits=8) and int(bits=4,per=row).
std::vector<Format> default_linear_formats(const FormatTable& formats);

/// One way, for packed weights in one format, with so many rows. All of these rows took turns. Times are of one linear, in
/// milliseconds.
struct LinearTimes {
  std::int64_t rows = 0;
  ProductWay way = ProductWay::fp32;
  std::optional<Format> format = {},
                        input_format = {};  ///< of the weight, and of x where that is rounded
  std::string not_run = {};                 ///< why there are no times; empty: there are
  std::string kernel = {};                  ///< "packed_linear / codes"
  /// Of the weight: codes, scales and states without what pads them. And of all that is read and written once: with bias, x and y.
  std::int64_t weight_bytes = 0, bytes = 0;
  bool in_cache =
      false;  ///< all copies of the weight together, so that none of them came from memory
  double flops = 0;
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::vector<double> rounds_ms = {};   ///< of each run, in their order
  double peak_gbps = 0;                 ///< of the device's memory
  std::optional<Speedup> speedup = {};  ///< against fp32; none where that was not run
  /// From the results of the processor in fp32 with the weight before it was rounded: the largest difference, and as a share of
  /// the largest result. So rounding to the format is in it.
  double max_difference = 0, relative_difference = 0;

  bool was_run() const { return not_run.empty(); }
  std::string name() const;  ///< "packed mxint(bits=8,block=32)"
  double gflops() const { return flops / min_ms * 1e-6; }
  double gbps() const { return static_cast<double>(bytes) / min_ms * 1e-6; }
  double share_of_bandwidth() const { return gbps() / peak_gbps; }
};

/// `LinearTimes` in results. What was not measured is null.
struct LinearTimesResult {
  std::int64_t rows = 0;
  ProductWay impl = ProductWay::fp32;
  std::optional<std::string> format = {}, input_format = {}, not_run = {}, kernel = {};
  std::optional<std::int64_t> weight_bytes = {}, bytes = {};
  std::optional<bool> in_cache = {};
  std::optional<double> first_ms = {}, min_ms = {}, median_ms = {};
  std::int64_t timed_runs = 0;
  std::vector<double> rounds_ms = {};
  std::optional<double> gflops = {}, gb_per_s = {}, share_of_bandwidth = {};
  std::optional<Speedup> speedup = {};
  std::optional<double> max_difference = {}, relative_difference = {};
};
const Fields& fields_of(const LinearTimesResult*);

/// The result for programs.
struct BenchLinearFields {
  std::string what, device;
  int threads = 0;
  std::int64_t inputs = 0, outputs = 0, copies = 0;
  std::uint64_t cache_bytes = 0;
  double bandwidth_gbps = 0;
  std::vector<LinearTimesResult> times = {};
};
const Fields& fields_of(const BenchLinearFields*);

struct LinearResult : JobResult {
  std::vector<LinearTimes> times;
  std::int64_t copies = 1;  ///< of the weight, which runs use in turn
};

/// Times a linear of normal random values with its bias on the device of the context. Runs take copies of the weight in turn, so
/// many that those of the smallest are four times the device's last cache, but no more than `kMostLinearCopies` and no more than
/// take 2 GiB in fp32. What has no kernel on the device is a row that says why. Throws `UserError` where memory is short;
/// `Interrupted`.
LinearResult bench_linear(const LinearJob& job, Context& context);
inline constexpr std::int64_t kMostLinearCopies = 512;

}  // namespace hone
