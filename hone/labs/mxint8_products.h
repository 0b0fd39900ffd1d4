#pragma once

#include <map>

#include "hone/jobs/paired_times.h"
#include "hone/labs/lab.h"
#include "hone/study/comparison_table.h"

/// Part of lab 4.3: a model in fp32, with packed weights (W8A16), with products of codes (W8A8), and with the best
/// choice for each linear layer: bytes moved, operations, time and changes of the predictions.
namespace hone {

/// How a linear layer multiplies: fp32, packed weights with fp32 inputs, or codes with codes.
enum class LinearMode : std::uint8_t { float32, weight_only, codes };
std::string_view to_string(LinearMode mode);            ///< "fp32", "W8A16", "W8A8"
using LinearModes = std::map<std::string, LinearMode>;  ///< by layer name

/// A linear layer, its product and its effect on the model's outputs.
struct LabLinearResult {
  std::string layer;
  std::int64_t rows = 0, outputs = 0, inputs = 0;
  double margin_snr_db = 0;  ///< NaN: no margin differs
  double fp32_ms = 0, w8a16_ms = 0, w8a8_ms = 0;
  double w8a8_speedup = 1;
  Interval w8a8_speedup_interval = {1, 1};
};
/// Each linear layer alone with weights and inputs in MXINT8.
struct LabSensitivityResult {
  std::string split;
  std::int64_t examples = 0;
  std::vector<LabLinearResult> layers = {};
};
/// The errors of a model's outputs against the baseline.
struct LabLogitsResult {
  double max_error = 0, rms_error = 0, rms = 0;
};
/// A model whose linear layers multiply in one way, or the mixed one. Counts are of the linear layers in one timed run.
struct LabProductModelResult {
  MeasuredModelResult measured = {};
  LabLogitsResult logits = {};
  std::vector<std::pair<std::string, std::int64_t>> linear_layers = {};  ///< by `LinearMode`
  std::int64_t memory_bytes = 0, moved_bytes = 0;
  std::int64_t integer_multiply_adds = 0, float_multiply_adds = 0;
  std::int64_t scale_operations = 0, conversions = 0;
  RoundTimes times = {};
  Speedup speedup = {};

  const std::string& name() const { return measured.metrics.model; }
};
/// A model whose linear layers multiply in several ways.
struct LabProductsResult {
  std::int64_t batch = 0, tokens = 0, timed_runs = 0;
  std::string device;
  int threads = 0;
  std::int64_t other_multiply_adds = 0;
  std::vector<LabProductModelResult> models = {};  ///< fp32, W8A16, W8A8, mixed
};
const Fields& fields_of(const LabLinearResult*);
const Fields& fields_of(const LabSensitivityResult*);
const Fields& fields_of(const LabLogitsResult*);
const Fields& fields_of(const LabProductModelResult*);
const Fields& fields_of(const LabProductsResult*);

/// Returns the mixed model that follows from the result of the first stage. The linear layers with the largest margin
/// errors, which make up half of their sum, keep fp32 inputs; one whose product of codes is shown to be slower stays in
/// fp32; all others use codes.
LinearModes mixed_modes(const LabSensitivityResult& sensitivity);

/// The names of the two stages.
inline constexpr const char *kSensitivityStage = "sensitivity", *kProductsStage = "products";

struct ProductSizes {
  std::int64_t batch = 8;  ///< texts of a timed run
  std::int64_t tokens = 128;
  std::int64_t runs = 60;  ///< in turn, at least `kFewestForMedianInterval`
  /// Validation examples that each linear layer is evaluated on alone; 0: all.
  std::int64_t sensitivity_examples = 0;
};

/// Returns two stages: each linear layer alone on the validation split, which determines the mixed model, and the four
/// models on the reported split.
std::vector<LabStage> product_stages(const LabRun& run, const ProductSizes& sizes,
                                     const LabRates& rates);

/// Returns their report; writes figures and tables to the folder of the run.
LabPart product_part(const LabSensitivityResult& sensitivity, const LabProductsResult& found,
                     const LabRun& run);

}  // namespace hone
