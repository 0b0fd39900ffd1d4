#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/models/adapter.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/predictor.h"

namespace hone::fuzz {
namespace {

// The seeds in fuzz/seeds/adapter fit this model (tools/golden/adapter_seeds.py).
Model small_model(const Library& library) {
  EncoderConfig config;
  config.vocab_size = 8;
  config.hidden_size = 4;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 2;
  config.intermediate_size = 4;
  config.max_position_embeddings = 4;
  return new_model(facts_of(bert(), config), library.ops, /*seed=*/1);
}

// Returns the bytes before the next zero byte, and removes them and that byte from `bytes`.
std::string_view next_part(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view part = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return part;
}

}  // namespace

void adapter(std::string_view bytes) {
  static const Library library = builtin_library();
  static ThreadPool pool(1);
  static const Model base = small_model(library);
  const Session session{library, pool};
  const Json config = parse_json(next_part(bytes), kAdapterConfig);
  const std::string_view told = next_part(bytes);
  const Json told_of = told.empty() ? Json() : parse_json(told, kAdapterBase);
  const TensorMap tensors = read_safetensors(SharedBytes{bytes, nullptr}).tensors;
  const AdapterFolder folder =
      adapter_of(config, tensors, told_of, "adapter/adapter_model.safetensors");
  HONE_ASSERT(!folder.options.target.empty(), "an adapter of nothing");
  Model model = base;
  apply_adapter(folder, model, "base", session);
  for (const auto& [name, tensor] : folder.tensors)
    HONE_ASSERT(model.parameters.at(name).sizes() == tensor.sizes(), "{} is another", name);
  Predictor predictor(forward_graph(model), model.parameters, session);
  const NamedTensors text = {{"input_ids", Tensor::of<std::int64_t>({1, 3}, {2, 5, 3})},
                             {"attention_mask", Tensor::of<std::int64_t>({1, 3}, {1, 1, 1})},
                             {"token_type_ids", Tensor::of<std::int64_t>({1, 3}, {0, 0, 0})}};
  HONE_ASSERT(predictor.rows(text).size() == 2, "other logits");
}

}  // namespace hone::fuzz
