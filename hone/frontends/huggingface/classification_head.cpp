#include "hone/frontends/huggingface/classification_head.h"

#include <fmt/format.h>

namespace hone {

Value add_classification_head(ModuleBuilder& builder, const HeadModules& modules,
                              const EncoderConfig& config, Value hidden) {
  const Dim batch = hidden.type().dim(0);
  const std::string name(modules.name);
  const auto dropout = [&](Value x, std::string_view path) {
    return builder.dropout(x, std::string(path), config.classifier_dropout_prob(),
                           {batch, config.hidden_size});
  };
  const Value first = builder.graph().add(
      "slice", {hidden}, {{"axis", std::int64_t{1}}, {"size", Shape{1}}}, name + ".first_token");
  Value x = builder.reshape(first, name + ".rows", {batch, config.hidden_size});
  if (!modules.first_dropout.empty()) x = dropout(x, modules.first_dropout);
  x = builder.linear(x, std::string(modules.dense), config.hidden_size);
  x = builder.activation(x, name + ".activation", modules.activation);
  return builder.linear(dropout(x, modules.dropout), std::string(modules.classes),
                        config.num_labels());
}

Type labels_type(Task task, const Type& logits) {
  if (task == Task::single_label) return {DType::i64, {logits.dim(0)}};
  return {DType::f32, logits.shape};
}

void add_loss(Graph& graph, Task task, Value logits) {
  const Value labels = graph.add_input("labels", labels_type(task, logits.type()));
  const char* op = task == Task::regression    ? "mean_squared_error"
                   : task == Task::multi_label ? "binary_cross_entropy"
                                               : "cross_entropy";
  graph.set_output("loss", graph.add(op, {logits, labels}, {}, "loss"));
}

}  // namespace hone
