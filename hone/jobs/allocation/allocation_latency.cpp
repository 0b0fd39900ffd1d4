#include "hone/jobs/allocation/allocation_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/base/text.h"
#include "hone/jobs/allocation/packed_copy.h"
#include "hone/jobs/bench_work.h"

namespace hone {

LatencyTable measure_latency(const Model& model, const std::vector<std::string>& layers,
                             const std::vector<LayerOption>& options, const EncodedSplits& data,
                             const CalibrationRun& calibration, const BatchSize& batch,
                             Context& context) {
  // The baseline comes last; its linears in full precision are subtracted to get the rest.
  std::vector<Model> models;
  for (const LayerOption& option : options)
    models.push_back(packed_copy(model, layers, option, data, calibration, context));
  models.push_back(model);
  LatencyTable table{.batch = batch, .ms = time_layers(models, layers, batch, context)};
  const auto texts = static_cast<double>(batch.texts);
  double linears = 0;
  for (std::vector<double>& layer : table.ms) {
    for (double& ms : layer) ms /= texts;
    linears += layer.back();
    layer.pop_back();
  }
  table.whole_ms =
      median_batch_ms(model, random_examples(model, batch.texts, batch.tokens), context) / texts;
  if (linears > table.whole_ms) {
    print_notes(context,
                {fmt::format("the linear layers took {:.0f}% longer than the whole model, so "
                             "predicted latencies are scaled to its {} ms per text",
                             100 * (linears / table.whole_ms - 1), three_digits(table.whole_ms))});
    for (std::vector<double>& layer : table.ms)
      for (double& ms : layer) ms *= table.whole_ms / linears;
  }
  table.rest_ms = std::max(0.0, table.whole_ms - linears);
  return table;
}

Json to_json(const LatencyTable& table) {
  return {{"texts", table.batch.texts},
          {"tokens", table.batch.tokens},
          {"layers_ms", table.ms},
          {"whole_ms", table.whole_ms},
          {"rest_ms", table.rest_ms}};
}

LatencyTable latency_from_json(const Json& json) {
  return {.batch = {json.at("texts").get<std::int64_t>(), json.at("tokens").get<std::int64_t>()},
          .ms = json.at("layers_ms").get<std::vector<std::vector<double>>>(),
          .whole_ms = json.at("whole_ms").get<double>(),
          .rest_ms = json.at("rest_ms").get<double>()};
}

ModelTimes time_whole_models(const Model& model, const Model& chosen, const BatchSize& batch,
                             Context& context) {
  const Model packed = packed_to_run(chosen, context);
  const EncodedSet texts = random_examples(model, batch.texts, batch.tokens);
  return time_models({model, texts}, {packed, texts}, {batch.texts}, context, LargeBatches::kept)
      .front();
}

std::int64_t mean_tokens(const EncodedSplits& data) {
  const std::vector<std::int64_t> lengths = lengths_of(data.validation);
  const auto sum = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), 0LL));
  return std::max<std::int64_t>(1, std::llround(sum / static_cast<double>(lengths.size())));
}

}  // namespace hone
