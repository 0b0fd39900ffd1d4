#pragma once

#include <map>

#include "hone/labs/lab.h"

/// Of lab 4.3: a model in fp32, with packed weights (W8A16), with products of codes (W8A8), and with what is best for each
/// linear: what is moved and computed, how long it takes, and what becomes of the answers.
namespace hone {

/// How a linear multiplies: in fp32, packed weights by fp32 inputs, codes by codes.
enum class LinearWay : std::uint8_t { float32, weight_only, codes };
std::string_view to_string(LinearWay way);            ///< "fp32", "W8A16", "W8A8"
using LinearWays = std::map<std::string, LinearWay>;  ///< by the names of linears

/// The mixed model that follows from what the first stage has found. The linears whose errors of the margin make half of their
/// sum, the largest first, keep inputs in fp32; one whose product is shown to be slower in
/// codes stays in fp32; all others are in codes.
LinearWays mixed_ways(const Json& sensitivity);

/// The names of the two stages.
inline constexpr const char *kSensitivityStage = "sensitivity", *kProductsStage = "products";

struct ProductSizes {
  std::int64_t batch = 8;  ///< texts of a timed run
  std::int64_t tokens = 128;
  std::int64_t runs = 60;  ///< in turn, `kFewestForMedianInterval` at least
  /// Texts of the validation part that each linear is tried on alone; 0: all.
  std::int64_t sensitivity_texts = 0;
};

/// Two stages: each linear alone on the validation part, from which the mixed model follows, and the four models on the part
/// that is reported.
std::vector<LabStage> product_stages(const LabRun& run, const ProductSizes& sizes,
                                     const LabRates& rates);

/// What they have found, told; figures and tables lie in the folder of the run.
LabPart product_part(const LabRun& run);

}  // namespace hone
