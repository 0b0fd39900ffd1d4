#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/analysis/decode_tiles.h"
#include "hone/base/json.h"
#include "hone/jobs/job_result.h"
#include "hone/kernels/dequantize.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// Times the decoding of MXINT arrays to memory on the CPU or a GPU, against moving the same bytes.
namespace hone {

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
  /// Of reading and writing as many bytes in the same way (`kernels::move_bytes`), or by a copy within a card.
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

struct DequantizeResult : JobResult {
  std::vector<DequantizeTimes> times;
  std::vector<SpelledElement>
      spelled;  ///< the first that subtracts the bias, and the first that does not
};

/// Reads the times and the elements back from the `fields` of a result.
std::vector<DequantizeTimes> times_of(const Json& fields);
std::vector<SpelledElement> spelled_of(const Json& fields);
/// A row for each array, and a column for each element.
Table times_table(const std::vector<DequantizeTimes>& times);
Table spelled_table(const std::vector<SpelledElement>& spelled);
/// Says how it is decoded ("Threads take chunks of …"), and how to read the table.
std::string decoding_text(const DequantizeTimes& times);

/// Times the decoder by the rule of the OCP specification on arrays of random codes, with the threads or on the card of the
/// context. Throws `UserError` where an array that was asked for does not fit into memory, a figure cannot be written or is not of
/// this device, or mase-cuda does not take the array that it is of; `InternalError` where a card's bits are not the processor's;
/// `Interrupted`.
DequantizeResult bench_dequantize(const DequantizeJob& job, Context& context);

}  // namespace hone
