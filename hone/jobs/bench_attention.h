#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/run_profile.h"
#include "hone/runtime/context.h"
#include "hone/tensor/dtype.h"

/// Benchmark of attention as separate operations and fused, with a comparison of the results.
namespace hone {

/// Naive: products, scale and softmax are separate operations, and the scores are stored in memory. Fused: one
/// operation, `attention`.
enum class AttentionImplementation : std::uint8_t { naive, fused };
inline constexpr std::string_view kAttentionImplementations[] = {"naive", "fused"};
std::string_view to_string(AttentionImplementation implementation);
std::span<const EnumName> enum_names(AttentionImplementation);

/// A type of operands and results, with its common name.
struct AttentionType {
  DType dtype;
  std::string_view name;
};
inline constexpr AttentionType kAttentionTypes[] = {
    {DType::f32, "fp32"}, {DType::bf16, "bf16"}, {DType::f16, "fp16"}};

struct AttentionShape {
  std::int64_t texts = 32, heads = 8, tokens = 128, size = 64;

  double scores() const;  ///< elements of the score matrices of all texts and heads
  /// Returns the operations of both products.
  double flops() const { return 4 * scores() * static_cast<double>(size); }
};

struct AttentionJob {
  AttentionShape shape;
  std::vector<AttentionType> types = {};  ///< empty: all
  std::vector<AttentionImplementation> implementations = {AttentionImplementation::naive,
                                                          AttentionImplementation::fused};
  std::int64_t runs = 0;  ///< counted runs; 0: 20
  bool profile = false;   ///< also report the time of each operation
};

/// Times of one implementation with operands of one type, in milliseconds per run. The implementations of a type take
/// turns. Short runs are timed many in a row. The first run prepares kernels and memory.
struct AttentionTimes {
  AttentionType type;
  AttentionImplementation implementation = AttentionImplementation::naive;
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::vector<double> rounds_ms = {};  ///< of each run, in order
  std::int64_t runs = 0;
  double needed_bytes = 0;              ///< operands, values and workspace
  double peak_gflops = 0;               ///< of products of such operands
  std::optional<Speedup> speedup = {};  ///< over naive; empty if that was not run
  /// Largest difference from the naive results with the same operands in fp32: absolute, and divided by the largest
  /// result.
  std::optional<double> max_difference = {}, relative_difference = {};
  std::vector<OperatorTime> operators = {};  ///< with `profile`
  /// Peak bytes of values after any operation of a recorded run, without operands; with `profile`.
  std::optional<std::int64_t> value_bytes = {};

  double gflops(const AttentionShape& shape) const { return shape.flops() / min_ms * 1e-6; }
  double share_of_peak(const AttentionShape& shape) const { return gflops(shape) / peak_gflops; }
};

/// `AttentionTimes` in results.
struct AttentionTimesResult {
  std::string dtype;
  AttentionImplementation impl = AttentionImplementation::naive;
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::int64_t timed_runs = 0;
  std::vector<double> rounds_ms = {};
  double tflops = 0, peak_tflops = 0, share_of_peak = 0;
  std::optional<Speedup> speedup = {};
  std::optional<double> max_difference = {}, relative_difference = {};
  std::int64_t needed_bytes = 0;
  std::optional<std::int64_t> value_bytes = {};
  std::optional<std::vector<OperatorTimeResult>> operators = {};
};
const Fields& fields_of(const AttentionTimesResult*);

/// The JSON result.
struct BenchAttentionFields {
  std::string what, device;
  int threads = 0;
  std::vector<std::int64_t> shape = {};
  double gflop = 0;
  std::vector<AttentionTimesResult> times = {};
};
const Fields& fields_of(const BenchAttentionFields*);

struct AttentionResult : JobResult {
  std::vector<AttentionTimes> times;
};

/// Times attention without a mask on random operands (texts, tokens, heads, size), the layout that linears produce, on
/// the device of the context. Without kernels for bf16 or fp16, values are widened to fp32 and the results rounded.
/// Throws `UserError` if memory is short, and `Interrupted`.
AttentionResult bench_attention(const AttentionJob& job, Context& context);

}  // namespace hone
