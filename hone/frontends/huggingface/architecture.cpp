#include "hone/frontends/huggingface/architecture.h"

#include "hone/frontends/huggingface/bert.h"
#include "hone/frontends/huggingface/distilbert.h"
#include "hone/frontends/huggingface/electra.h"
#include "hone/frontends/huggingface/resnet.h"
#include "hone/frontends/huggingface/roberta.h"

namespace hone {
namespace {

InputLimits image_limits(const ImageConfig& image) {
  return {.image = ImageSize{image.num_channels, image.image_size, image.image_size}, .tokens = 1};
}

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> rows = {bert(), distilbert(), electra(), resnet(),
                                                 roberta()};
  return rows;
}

}  // namespace

const Architecture& find_architecture(std::string_view model_type, std::string_view where) {
  std::vector<std::string> known;
  for (const Architecture& row : architectures()) {
    if (row.model_type() == model_type) return row;
    known.emplace_back(row.model_type());
  }
  // No suggestion: programs write this name, so a similar one belongs to another architecture.
  fail("{}: model_type '{}' is not supported; supported are {}", where, model_type,
       fmt::join(known, ", "));
}

ModelFacts facts_of(const Architecture& architecture, const Json& config, std::string_view where) {
  const EncoderConfig read = read_config(architecture.keys, config, where);
  return {.architecture = std::string(architecture.model_type()),
          .config = config,
          .labels = read.labels,
          .limits = architecture.of_images() ? image_limits(read.image)
                                             : input_limits(architecture.encoder, read),
          .problem_type = read.problem_type};
}

ModelFacts facts_of(const Architecture& architecture, const EncoderConfig& config) {
  return facts_of(architecture, to_json(architecture.keys, config), "config");
}

EncoderConfig config_of(const ModelFacts& facts) {
  const Architecture& architecture = find_architecture(facts.architecture, "a model");
  EncoderConfig config = read_config(architecture.keys, facts.config, "config.json");
  config.labels = facts.labels;
  config.problem_type = facts.problem_type;
  return config;
}

Value add_text_logits(ModuleBuilder& builder, const Architecture& architecture,
                      const EncoderConfig& config, const GraphInputs& inputs) {
  const Value hidden = add_encoder(builder, architecture.encoder, config, inputs);  // (B, S, H)
  return add_classification_head(builder, architecture.head, config, hidden);       // (B, labels)
}

Graph build_graph(const OpTable& ops, const Architecture& architecture, const EncoderConfig& config,
                  const GraphInputs& inputs) {
  ModuleBuilder builder(ops);
  const Value logits = architecture.add_logits(builder, architecture, config, inputs);
  Graph& graph = builder.graph();
  graph.set_output("logits", logits);
  if (inputs.labels) add_loss(graph, *inputs.labels, logits);
  return std::move(graph);
}

}  // namespace hone
