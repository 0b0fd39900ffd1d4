#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/jobs/allocation/allocation_options.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/native/native_times.h"
#include "hone/models/encoding.h"
#include "hone/train/calibration.h"

/// Latencies of linears in each option on this machine, as costs that add up. They vary between runs.
namespace hone {

struct LatencyTable {
  BatchSize batch = {};
  /// (layers, options), per text. If the linears in full precision take longer in sum than the whole model, all values
  /// are scaled so that the sums agree.
  std::vector<std::vector<double>> ms;
  double whole_ms = 0;  ///< the baseline, per text
  double rest_ms = 0;   ///< the baseline without its linears, per text
};

/// Times every linear in every option: packed, alone, in turn with the others, with native kernels where one supports
/// it. Linears of the same shape are timed once. Also times the whole baseline. Formats that need ranges are
/// calibrated on `data.train`. Prints a note if the table was scaled. Throws `Interrupted`.
LatencyTable measure_latency(const Model& model, const std::vector<std::string>& layers,
                             const std::vector<LayerOption>& options, const EncodedSplits& data,
                             const CalibrationRun& calibration, const BatchSize& batch,
                             Context& context);

Json to_json(const LatencyTable& table);
LatencyTable latency_from_json(const Json& json);

/// Times both whole models as `time_models` does, `chosen` packed.
ModelTimes time_whole_models(const Model& model, const Model& chosen, const BatchSize& batch,
                             Context& context);

/// Returns the average length of the validation texts, rounded, at least 1.
std::int64_t mean_tokens(const EncodedSplits& data);

}  // namespace hone
