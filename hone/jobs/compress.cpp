#include "hone/jobs/compress.h"

#include "hone/analysis/precision.h"
#include "hone/base/text.h"
#include "hone/models/transform.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/dense.h"
#include "hone/train/calibration.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// A format without a zero would undo a mask in front of it.
void check_zeros_stay(const Model& rounded) {
  for (const Node* weight : pruned_weights(rounded.graph)) {
    const Tensor values = dense_on(rounded.parameters.at(weight->name()), cpu()),
                 kept = dense_on(rounded.parameters.at(mask_of(*weight).name()), cpu());
    std::int64_t others = 0;
    for (std::int64_t i = 0; i < values.count(); ++i)
      others += !kept.data<bool>()[i] && values.data<float>()[i] != 0 ? 1 : 0;
    user_check(others == 0,
               "{}: {} of {} pruned weights would not be 0 after rounding, because their number "
               "format has no zero; use another format, or apply the pass unprune first",
               weight->name(), grouped(others), grouped(pruned_count(kept)));
  }
}

}  // namespace

QuantizationPlan plan_with_format(const Model& model, const Format& format) {
  return uniform_plan(unquantized_graph(model), LayerFormats::reads(format));
}

double average_weight_bits(const Model& model) {
  if (!model.quantization) return 32;
  return weight_bits(unquantized_graph(model), model.quantization->plan).average();
}

QuantizationPlan combined_plan(const Model& baseline, const QuantizationPlan& plan) {
  Graph graph = forward_graph(baseline);
  quantize(graph, plan);
  return current_plan(graph);
}

Model compress(const Model& baseline, const EncodedSplits& data, const CompressOptions& options,
               TrainingLog& log, Context& context) {
  Model model = baseline;
  for (const auto& [layer, sparsity] : options.sparsities) {
    const PruneOptions one = prune_options(layer, sparsity);
    change_model(
        model, "prune", [&] { return prune(model.graph, model.parameters, one); },
        context.session(), prune_text(one));
  }
  quantize_model(model, options.plan, context.session());
  if (options.qat && model.quantization) model.quantization->method = "qat";
  calibrate(forward_graph(model), model.parameters, text_examples(data.train), options.calibration,
            context.session(), quantizer_names(baseline.graph));
  if (!options.qat) return model;
  if (options.trained) {
    model.parameters = *options.trained;
    return model;
  }
  if (!pruned_weights(model.graph).empty()) round_weights(model, context);  // fails early
  fine_tune(model, data, options.fine_tune, log, context);
  return model;
}

Model compress(const Model& baseline, const EncodedSplits& data, const CompressOptions& options,
               Context& context) {
  TrainingLog log;
  return compress(baseline, data, options, log, context);
}

std::vector<std::int64_t> calibration_rows(const Model& baseline, const EncodedSplits& data,
                                           const CompressOptions& options) {
  Graph graph = forward_graph(baseline);
  quantize(graph, options.plan);
  if (!calibration_reads_examples(graph, quantizer_names(baseline.graph))) return {};
  return calibration_rows(data.train.size(), options.calibration);
}

std::optional<TrainedOn> record_of_copy(const TextModel& baseline, const EncodedSplits& data,
                                        const CompressOptions& options) {
  std::optional<TrainedOn> record = baseline.trained_on;
  std::vector<std::uint64_t> calibrated;
  for (const std::int64_t row : calibration_rows(baseline.model, data, options))
    calibrated.push_back(data.train_rows[static_cast<std::size_t>(row)]);
  const std::string& hash = data.identity.hash;
  if (!calibrated.empty()) record = after_calibration(record, hash, std::move(calibrated));
  if (options.qat) record = after_training(record, hash, data.train_rows, data.validation_rows);
  return record;
}

Model round_weights(const Model& quantized, Context& context) {
  Model rounded = quantized;
  Graph graph = quantized.graph;
  graph.clear_outputs();
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!is_quantizer(*node) && !is_mask(*node)) continue;
    const Value read = is_mask(*node) ? Value{node, 0} : node->inputs()[0];
    const Node* const parameter = stored_parameter(read);
    // A parameter that is also read elsewhere, in another format or none, keeps its precision. A quantizer follows the
    // mask that it reads.
    const bool alone = is_mask(*node) || read.node->users().size() == 1;
    if (parameter != nullptr && parameter->users().size() == 1 && alone)
      graph.set_output(parameter->name(), {node, 0});
  }
  remove_dead_code(graph);
  const Session session = context.session();
  ParameterStore parameters = quantized.parameters.on(session.device);
  for (const auto& [name, tensor] : session.executable(graph)->run({}, parameters))
    rounded.parameters.set(name, dense_on(tensor, cpu()));
  check_zeros_stay(rounded);
  return rounded;
}

}  // namespace hone
