#pragma once

#include "hone/jobs/bench_dequantize.h"
#include "hone/labs/lab.h"

/// Part of lab 4.3: the value of an MXINT8 element, the tiling of its decoding, and the speed of decoding.
namespace hone {

/// The arrays to time.
struct DecodeSizes {
  std::vector<std::int64_t> elements;
  std::vector<std::int64_t> groups;
  std::int64_t runs = 0;  ///< runs of each; 0: as `bench_dequantize`
};

LabStage decode_stage(const DecodeSizes& sizes, const LabRates& rates);

/// A kind of (scale, byte) pairs that decode in the same way.
struct DecodeException {
  std::string what;
  std::int64_t pairs = 0;
};
/// Decoding in results.
struct LabDecodeResult {
  BenchDequantizeFields bench = {};
  std::vector<DecodeException> exceptions = {};
};
const Fields& fields_of(const DecodeException*);
const Fields& fields_of(const LabDecodeResult*);

/// Returns how many of the 65,536 pairs of a scale and a byte decode to something other than m 2^(scale - 133), by
/// kind, and how many others there are.
std::vector<DecodeException> decode_exceptions();

LabDecodeResult decode_result(const LabRun& run);
/// Returns the report of the stage; writes figures and decode.csv to the folder of the run.
LabPart decode_part(const LabDecodeResult& found, const LabRun& run);

}  // namespace hone
