#include "hone/app/compress.h"

#include "hone/passes/dead_code.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/interpreter.h"
#include "hone/train/calibration.h"

namespace hone {

void check_unquantized(const Model& model) {
  user_check(!model.quantization,
             "the model is quantized already ({}); start from the model it was made from",
             model.quantization ? to_string(model.quantization->format) : "");
}

Model compress(const Model& parent, const EncodedSplits& data, std::int32_t pad_id,
               const CompressOptions& options, const LogSink& log, Context& context) {
  check_unquantized(parent);
  Model model = parent;
  model.quantization = Quantization{options.format, options.qat ? "qat" : "ptq", {}};
  const Graph graph = model_graph(model, context, {});
  model.quantization->modules = quantized_modules(graph);
  calibrate(graph, model.parameters, data.train, pad_id, options.fine_tune.eval_batch_size,
            options.calibration_batches, context.library, context.pool);
  if (options.qat) fine_tune(model, data, pad_id, options.fine_tune, log, context);
  return model;
}

Model round_weights(const Model& quantized, Context& context) {
  Model rounded = quantized;
  Graph graph = model_graph(quantized, context, {});
  graph.clear_outputs();
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    const bool of_weight =
        node->is("quantize") && node->inputs()[0].node->kind() == NodeKind::parameter;
    if (of_weight) graph.set_output(node->inputs()[0].node->name(), {node, 0});
  }
  remove_dead_code(graph);
  ParameterStore parameters = quantized.parameters;
  Interpreter interpreter(graph, context.library, context.pool);
  for (const auto& [name, tensor] : interpreter.run({}, parameters))
    rounded.parameters.set(name, tensor.contiguous_copy());
  return rounded;
}

}  // namespace hone
