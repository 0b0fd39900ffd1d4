#pragma once

#include "hone/jobs/bench_dequantize.h"
#include "hone/labs/lab.h"

/// Of lab 4.3: what an element of MXINT8 stands for, how its decoding is cut up, and how fast it is.
namespace hone {

/// Which arrays are timed.
struct DecodeSizes {
  std::vector<std::int64_t> elements;
  std::vector<std::int64_t> groups;
  std::int64_t runs = 0;  ///< of each; 0: as `bench_dequantize`
};

LabStage decode_stage(const DecodeSizes& sizes, const LabRates& rates);

/// Pairs of a scale and a byte that decode alike.
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

/// How many of the 65,536 pairs of a scale and a byte decode to something else than m 2^(scale - 133), and to what: each kind of
/// them, and all others.
std::vector<DecodeException> decode_exceptions();

/// What the stage has found.
LabDecodeResult decode_result(const LabRun& run);
/// Its report; figures and decode.csv are written to the folder of the run.
LabPart decode_part(const LabDecodeResult& found, const LabRun& run);

}  // namespace hone
