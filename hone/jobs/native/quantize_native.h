#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/native/native_report.h"
#include "hone/jobs/native/native_times.h"
#include "hone/jobs/native/widening.h"
#include "hone/jobs/quantize.h"
#include "hone/metrics/verdict.h"
#include "hone/models/encoding.h"
#include "hone/runtime/native_formats.h"
#include "hone/train/calibration.h"

/// Native quantization: packed weights and native products, measured against fp32.
namespace hone {

/// A request for a native copy of a model.
struct NativeQuantizeJob {
  std::string model;  ///< as `open_model` takes it
  Format weight;      ///< for the weights of linears and embedding tables
  InputScales input_scales = InputScales::dynamic;
  bool keep_slower = false;  ///< convert slower layers too, whatever the timings
  /// Returns whether timings are a reason to keep a layer in fp32.
  std::function<bool(const ProductTimes&)> is_too_slow = [](const ProductTimes& product) {
    return product.times && product.times->shown_slower();
  };
  NativeMethods methods = {};
  GateOptions gates = {};  ///< limits; layers get wider formats until the model passes
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the split to measure on, see `evaluation_examples`
  JobData data = {};
  std::int64_t eval_batch_size = 32;
  std::uint64_t seed = 42;
  bool row_hashes = true;  ///< store fingerprints of the training rows with the model
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the model card and the record of the run
};

/// The machine-readable result.
struct QuantizeNativeFields {
  QuantizedResult quantized;
  BeforeAndAfterResult both = {};
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::optional<GateResult> gate = {};
  ModelSize size = {}, size_before = {};
  std::vector<ProductTimes> products = {};
  std::vector<NativeLayerResult> layers = {};
  std::vector<SmoothGroupResult> smooth_scales = {};
  bool bias_correction = false;
  std::optional<Widening> widening = {};
  LinearZeros baseline_zeros = {};
  std::optional<ZeroSkipping> skipping = {};
  std::int64_t left_out_bytes = 0;
  std::vector<ModelTimes> times = {};
  int threads = 1;
};
const Fields& fields_of(const QuantizeNativeFields*);

/// Makes a packed copy of a model with native products in its linears, and with quantized embedding tables.
/// Measures it against its baseline, latency included, and writes it with its report into `output`. Layers whose native
/// product is shown to be slower than fp32 on this machine stay in fp32; the report lists them.
///
/// Throws `UserError` as `native_input`, `load_encoded`, `calibrate` and `begin_run` do, and for a quantized model;
/// `Interrupted`.
QuantizeResult quantize_native_job(const NativeQuantizeJob& job, Context& context);

}  // namespace hone
