#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/analysis/decode_tiles.h"
#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/kernels/dequantize.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// Times the decoding of MXINT arrays to memory on the CPU or a GPU, against moving the same bytes.
namespace hone {

namespace kernels {
const Fields& fields_of(const DequantizePartition*);
}

/// Which arrays to decode: every number of elements with every group size.
struct DequantizeJob {
  std::vector<std::int64_t> elements;  ///< none: those of the lab that fit into memory
  std::vector<std::int64_t> groups;    ///< none: those of the lab, 8 … 512
  int bits = 8;                        ///< of an element, 8 or 4
  bool to_float = false;               ///< otherwise to bfloat16
  std::int64_t runs = 0;               ///< counted runs; 0: 60, or 12 when one takes over 200 ms
  std::string figure = {};  ///< stem of .svg and .png of how the first array is cut up; "": none
  bool overwrite = false;
};

/// One array. Decoding and moving took turns, so that both saw the same machine. Times are of one run, in milliseconds; short
/// ones are of many in a row, of data that lie in the caches then.
struct DequantizeTimes {
  kernels::MxintCodes codes;  ///< without memory
  std::int64_t bytes = 0;     ///< read and written: codes, scales and values
  double min_ms = 0;
  double median_ms = 0;
  /// Of reading and writing as many bytes in the same way (`kernels::move_bytes`), or by a copy within a GPU.
  double move_min_ms = 0;
  double move_median_ms = 0;
  std::int64_t runs = 0;
  bool in_cache = false;  ///< the last one of the device holds all the bytes
  std::optional<kernels::DequantizePartition> partition;  ///< on the processor
  std::optional<DecodeTiling> tiling;  ///< mase-cuda's, of 8 bits where groups divide the elements

  double gbps() const { return static_cast<double>(bytes) / min_ms * 1e-6; }
  double move_gbps() const { return static_cast<double>(bytes) / move_min_ms * 1e-6; }
  double share_of_bandwidth() const { return move_min_ms / min_ms; }
};

/// An element of what was decoded, and its place.
struct SpelledElement {
  std::int64_t index = 0;
  kernels::MxintElement element;
};

/// How mase-cuda's kernel is called for an array.
struct DecodeTilesResult {
  std::int64_t tile_rows = 0, tile_columns = 0, grid_x = 0, grid_y = 0, calls = 0, threads = 0;
};
const Fields& fields_of(const DecodeTilesResult*);

/// `DequantizeTimes` in results.
struct DecodeTimesResult {
  std::int64_t elements = 0, group = 0, bytes = 0;
  double min_ms = 0, median_ms = 0;
  std::int64_t timed_runs = 0;
  double gb_per_s = 0;
  double move_min_ms = 0, move_median_ms = 0, move_gb_per_s = 0, share_of_bandwidth = 0;
  bool in_cache = false;
  std::optional<kernels::DequantizePartition> partition = {};
  std::optional<DecodeTilesResult> tiles = {};
};
const Fields& fields_of(const DecodeTimesResult*);

/// `SpelledElement` in results.
struct SpelledElementResult {
  std::int64_t element = 0;
  std::string code = {};
  int mantissa = 0, scale = 0, sign = 0;
  std::string exponent = {}, fraction = {};
  int unit = 0;
  std::string out = {}, bias = {}, branch = {}, bfloat16 = {};
  double value = 0;
};
const Fields& fields_of(const SpelledElementResult*);

/// The result for programs.
struct BenchDequantizeFields {
  std::string what, device;
  int bits = 8, threads = 0;
  std::vector<DecodeTimesResult> times = {};
  std::vector<SpelledElementResult> spelled = {};
};
const Fields& fields_of(const BenchDequantizeFields*);

struct DequantizeResult : JobResult {
  std::vector<DequantizeTimes> times;
  std::vector<SpelledElement>
      spelled;  ///< the first that subtracts the bias, and the first that does not
};

/// The times and the elements of a result.
std::vector<DequantizeTimes> times_of(const BenchDequantizeFields& fields);
std::vector<SpelledElement> spelled_of(const BenchDequantizeFields& fields);
/// A row for each array, and a column for each element.
Table times_table(const std::vector<DequantizeTimes>& times);
Table spelled_table(std::vector<SpelledElement> spelled);
/// Says how it is decoded ("Threads take chunks of …"), and how to read the table.
std::string decoding_text(const DequantizeTimes& times);

/// Times the decoder by the rule of the OCP specification on arrays of random codes, with the threads or on the GPU of the
/// context. Throws `UserError` where an array that was asked for does not fit into memory, a figure cannot be written or is not of
/// this device, or mase-cuda does not take the array that it is of; `InternalError` where a GPU's bits are not the processor's;
/// `Interrupted`.
DequantizeResult bench_dequantize(const DequantizeJob& job, Context& context);

}  // namespace hone
