#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/jobs/allocation/allocation_options.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/native/native_times.h"
#include "hone/models/encoding.h"
#include "hone/train/calibration.h"

/// How long linears take in each option on this machine, as costs that add up. Times are of the moment: another run measures others.
namespace hone {

struct LatencyTable {
  BatchSize batch = {};
  /// (layers, options), of one text. Where linears alone, in full precision, take longer than the whole model does, all are scaled
  /// so that these take as long.
  std::vector<std::vector<double>> ms;
  double whole_ms = 0;  ///< the model as it is, of one text
  double rest_ms = 0;   ///< the same without its linears: a constant
};

/// Times every linear in every option, native where a kernel takes it: packed, alone, in turn with the others, linears of one shape once;
/// and the model as it is as a whole. Formats that want ranges take them from `data.train`. A scaled table is told as a note. Throws `Interrupted`.
LatencyTable measure_latency(const Model& model, const std::vector<std::string>& layers,
                             const std::vector<LayerOption>& options, const EncodedSplits& data,
                             const CalibrationRun& calibration, const BatchSize& batch,
                             Context& context);

Json to_json(const LatencyTable& table);
LatencyTable latency_from(const Json& json);

/// Both models whole, as `time_models`, `chosen` packed.
ModelTimes time_whole(const Model& model, const Model& chosen, const BatchSize& batch,
                      Context& context);

/// Of the validation part, rounded.
std::int64_t mean_tokens(const EncodedSplits& data);

}  // namespace hone
