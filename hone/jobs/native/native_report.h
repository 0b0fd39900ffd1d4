#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/formats/plan.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/native/native_times.h"
#include "hone/jobs/native/widening.h"
#include "hone/jobs/zero_skipping.h"
#include "hone/models/model_size.h"
#include "hone/study/comparison_table.h"

/// The report of `quantize_native_job`.
namespace hone {

/// The format of a layer that can be native, and the reason for it.
struct NativeLayer {
  std::string name;
  LayerFormats formats;  ///< none: it stays in fp32
  /// SNR of the outputs with this layer alone in the requested format (jobs/native/widening.h); none: not measured.
  std::optional<double> snr_db = {};
  bool widened = false;     ///< wider than requested, to pass the gates
  bool slower = false;      ///< stays in fp32 for its speed
  std::string reason = {};  ///< why its formats are not the requested ones; empty: they are
};

struct NativeFindings {
  std::string_view arithmetic = kNative;  ///< of `arithmetic_of_run`
  std::vector<ProductTimes> products = {};
  std::vector<NativeLayer> layers = {};
  NativeMethods methods = {};
  std::vector<SmoothScales> smooth = {};  ///< for all groups that support scales
  std::optional<Widening> widening = {};  ///< only with gates
  std::vector<ModelTimes> times = {};
  int threads = 1;  ///< used for all timings
  ModelSize size_before = {}, size = {};
  LinearZeros zeros_before = {};              ///< in the baseline
  std::optional<ZeroSkipping> skipping = {};  ///< of the native model, if the baseline is pruned
  std::int64_t left_out_bytes = 0;            ///< zeros that its file leaves out
};

/// Describes the weights of the baseline: "fp32", "fp32, 80.0% of the linear weights zero (blocks of 1x4)".
std::string baseline_text(const NativeFindings& findings);

/// The requested format, and how many layers have a wider one: "int(bits=4,per=row,scale=static), 3 of 17 wider".
std::string format_text(const NativeFindings& findings, const Format& requested);

/// " in 8 of 17 layers, 2 wider"; "": all layers have the requested format.
std::string coverage_text(const NativeFindings& findings);

/// {"Layers", "40 of 41 in the requested format; …"}. `keep_slower` is the name of the option to mention.
Fact layers_fact(const NativeFindings& findings, const std::string& keep_slower);

/// `comparison_table` of fp32 and native, in this order, with their sizes, in memory too, and median latencies.
Table native_table(const std::vector<ComparedModel>& models, const NativeFindings& findings);

/// A row for each kind of product: its latencies and number of layers.
Table products_table(const NativeFindings& findings);

/// Sentences on latency, bytes, methods, and the layers that stay in fp32.
std::vector<std::string> lines_of(const NativeFindings& findings);
/// Warns if the model or a native layer is slower than fp32, and if there were too few examples to widen layers.
std::vector<std::string> native_concerns(const NativeFindings& findings);

/// The folded sections of a page: size and latency, layers and methods, products, smooth scales.
std::vector<Section> sections_of(const NativeFindings& findings);

/// A layer in results.
struct NativeLayerResult {
  std::string layer, format;
  std::optional<std::string> input_format = {};
  std::optional<double> snr_db = {};
  std::optional<std::string> reason = {};
};
/// A group of layers that supports smooth scales, in results.
struct SmoothGroupResult {
  std::string value;
  std::vector<std::string> linear_layers = {};
  bool free = false;
  std::optional<double> alpha = {};
  double snr_before_db = 0, snr_after_db = 0;
};
const Fields& fields_of(const NativeLayerResult*);
const Fields& fields_of(const SmoothGroupResult*);
std::vector<NativeLayerResult> layer_results(const NativeFindings& findings);
std::vector<SmoothGroupResult> smooth_results(const NativeFindings& findings);

}  // namespace hone
