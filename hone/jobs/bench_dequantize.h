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

/// Benchmark of decoding MXINT arrays to memory on the CPU or a GPU, compared with moving the same bytes.
namespace hone {

namespace kernels {
const Fields& fields_of(const DequantizePartition*);
}

/// The arrays to decode: every number of elements with every group size.
struct DequantizeJob {
  std::vector<std::int64_t> elements;  ///< empty: the lab's sizes that fit into memory
  std::vector<std::int64_t> groups;    ///< empty: the lab's group sizes, 8 … 512
  int bits = 8;                        ///< per element, 8 or 4
  bool to_float = false;               ///< otherwise to bfloat16
  std::int64_t runs = 0;               ///< counted runs; 0: 60, or 12 when one takes over 200 ms
  std::string figure = {};  ///< stem of .svg and .png of the first array's partition; "": none
  bool overwrite = false;
};

/// Times of one array, in milliseconds per run. Decoding and moving take turns, so that both see the same state of the
/// machine. Short runs are timed many in a row, with their data in the caches.
struct DequantizeTimes {
  kernels::MxintCodes codes;  ///< without memory
  std::int64_t bytes = 0;     ///< read and written: codes, scales and values
  double min_ms = 0;
  double median_ms = 0;
  /// Times of reading and writing as many bytes in the same way (`kernels::move_bytes`), or of a copy within a GPU.
  double move_min_ms = 0;
  double move_median_ms = 0;
  std::int64_t runs = 0;
  bool in_cache = false;  ///< whether the last-level cache of the device holds all the bytes
  std::optional<kernels::DequantizePartition> partition;  ///< on the CPU
  std::optional<DecodeTiling> tiling;  ///< of mase-cuda; only for 8 bits and whole groups

  double gbps() const { return static_cast<double>(bytes) / min_ms * 1e-6; }
  double move_gbps() const { return static_cast<double>(bytes) / move_min_ms * 1e-6; }
  double share_of_bandwidth() const { return move_min_ms / min_ms; }
};

/// A decoded element and its index.
struct DecodedElement {
  std::int64_t index = 0;
  kernels::MxintElement element;
};

/// Launch parameters of mase-cuda's kernel for an array.
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

/// `DecodedElement` in results.
struct DecodedElementResult {
  std::int64_t element = 0;
  std::string code = {};
  int mantissa = 0, scale = 0, sign = 0;
  std::string exponent = {}, fraction = {};
  int unit = 0;
  std::string out = {}, bias = {}, branch = {}, bfloat16 = {};
  double value = 0;
};
const Fields& fields_of(const DecodedElementResult*);

/// The JSON result.
struct BenchDequantizeFields {
  std::string what, device;
  int bits = 8, threads = 0;
  std::vector<DecodeTimesResult> times = {};
  std::vector<DecodedElementResult> spelled = {};
};
const Fields& fields_of(const BenchDequantizeFields*);

struct DequantizeResult : JobResult {
  std::vector<DequantizeTimes> times;
  std::vector<DecodedElement>
      spelled;  ///< the first that subtracts the bias, and the first that does not
};

/// Restore the times and elements from a result.
std::vector<DequantizeTimes> times_of(const BenchDequantizeFields& fields);
std::vector<DecodedElement> decoded_elements(const BenchDequantizeFields& fields);
/// Return tables with a row for each array, and with a column for each element.
Table times_table(const std::vector<DequantizeTimes>& times);
Table decoded_table(std::vector<DecodedElement> spelled);
/// Says how the array is decoded ("Threads take chunks of …"), and how to read the table.
std::string decoding_text(const DequantizeTimes& times);

/// Times decoding by the OCP specification on arrays of random codes, on the context's threads or GPU. Throws
/// `UserError` if a requested array does not fit into memory, or if a figure cannot be written, is not supported on
/// this device, or shows an array that mase-cuda does not support; `InternalError` if the bits of a GPU differ from
/// those of the CPU; `Interrupted`.
DequantizeResult bench_dequantize(const DequantizeJob& job, Context& context);

}  // namespace hone
