#include "hone/frontends/huggingface/architecture.h"

#include <algorithm>

#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/bert.h"

namespace hone {
namespace {

Json complete_bert_config(const ModelFacts& facts) { return to_json(bert_config(facts)); }

Graph bert_graph(const OpTable& ops, const ModelFacts& facts) {
  return build_bert(ops, bert_config(facts), {.labels = true});
}

Tensor bert_parameter(const Node& parameter, const ModelFacts& facts, std::uint64_t seed) {
  const std::string& name = parameter.name();
  const Sizes sizes = resolve(parameter.types()[0].shape, {});
  Tensor tensor = Tensor::zeros(DType::f32, sizes);
  if (parameter.role() == ParameterRole::bias) return tensor;
  if (parameter.role() == ParameterRole::gain) {
    std::ranges::fill(tensor.values<float>(), 1.0f);
    return tensor;
  }
  const BertConfig config = bert_config(facts);
  RandomSequence random(seed, stream_of(name));
  for (float& value : tensor.values<float>())
    value = static_cast<float>(random.normal() * config.initializer_range);
  const bool padded = name.ends_with("word_embeddings.weight") && config.pad_token_id.has_value();
  if (padded && *config.pad_token_id < sizes[0]) {
    std::ranges::fill(
        tensor.slice(0, *config.pad_token_id, *config.pad_token_id + 1).values<float>(), 0.0f);
  }
  return tensor;
}

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> rows = {
      {.model_type = "bert",
       .prefix = "bert.",
       .heads = {"classifier.", "bert.pooler."},
       .buffers = {"bert.embeddings.position_ids"},
       .facts = bert_facts,
       .config = complete_bert_config,
       .build = bert_graph,
       .initial_value = bert_parameter},
  };
  return rows;
}

}  // namespace

const Architecture& find_architecture(std::string_view model_type, std::string_view where) {
  std::vector<std::string> known;
  for (const Architecture& row : architectures()) {
    if (row.model_type == model_type) return row;
    known.emplace_back(row.model_type);
  }
  fail("{}: model_type '{}' is not supported; supported are {}{}", where, model_type,
       fmt::join(known, ", "), did_you_mean(model_type, known));
}

}  // namespace hone
