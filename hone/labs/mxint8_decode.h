#pragma once

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

/// What the stage has found, told; figures and decode.csv lie in the folder of the run.
LabPart decode_part(const LabRun& run);

/// How many of the 65,536 pairs of a scale and a byte decode to something else than m 2^(scale - 133), and to what, a row
/// for each kind of them and one for all others.
Table decode_exceptions();

}  // namespace hone
