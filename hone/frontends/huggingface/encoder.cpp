#include "hone/frontends/huggingface/encoder.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

const Dim kBatch = Dim::of_symbol('B');
const Dim kSequence = Dim::of_symbol('S');

/// Builds the graph from the inputs to the last layer, with one function per module.
class EncoderBuilder {
 public:
  EncoderBuilder(ModuleBuilder& builder, const EncoderModules& modules, const EncoderConfig& config)
      : builder_(builder),
        graph_(builder.graph()),
        modules_(modules),
        config_(config),
        limits_(input_limits(modules, config)) {}

  Value build(const GraphInputs& inputs) {
    add_inputs(inputs);
    Value hidden = embeddings();  // (B, S, H)
    mask_ = graph_.add("attention_mask", {attention_mask_}, {},
                       below("attention_mask"));  // (B, 1, 1, S)
    for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) {
      layer_ = fmt::format("{}.{}", below(modules_.layers), i);
      hidden = feed_forward(attention(hidden));
    }
    return hidden;
  }

 private:
  std::string below(std::string_view module) const {
    return fmt::format("{}.{}", modules_.name, module);
  }
  std::string in_layer(std::string_view module) const {
    return fmt::format("{}.{}", layer_, module);
  }
  Shape max_shape(std::int64_t size) const { return {kBatch, limits_.tokens, size}; }

  Value input_or_full(bool given, const std::string& name, double value) {
    if (given) return graph_.add_input(name, {DType::i64, {kBatch, kSequence}});
    return graph_.add("full", {input_ids_}, {{"value", value}, {"dtype", std::string("i64")}},
                      name);
  }
  void add_inputs(const GraphInputs& inputs) {
    input_ids_ = graph_.add_input("input_ids", {DType::i64, {kBatch, kSequence}});
    attention_mask_ = input_or_full(inputs.attention_mask, "attention_mask", 1.0);
    if (!modules_.token_types) return;
    const bool read = limits_.token_types > 0;
    token_type_ids_ = input_or_full(read && inputs.token_type_ids, "token_type_ids", 0.0);
  }

  // Looks up rows by `numbers` in a table of `rows` rows; the row `padding` is not trained.
  Value look_up(Value numbers, const std::string& name, std::int64_t rows,
                std::optional<std::int64_t> padding) {
    const Value table = builder_.weight(name, {rows, config_.embedding_width()});
    Attributes attributes;
    if (padding) attributes.set("padding", *padding);
    return graph_.add("embedding", {numbers, table}, attributes, name);
  }
  // (B, S, H), or (S, H) if they are the same for all texts
  Value positions(const std::string& name) {
    const std::int64_t rows = config_.max_position_embeddings;
    if (modules_.positions_skip_padding) {
      const std::int64_t padding = config_.pad_token_id.value();
      const Value numbers = graph_.add("token_positions", {input_ids_}, {{"padding", padding}},
                                       name + ".token_positions");
      return look_up(numbers, name, rows, padding);
    }
    const Value table = builder_.weight(name, {rows, config_.embedding_width()});
    return graph_.add("slice", {table}, {{"axis", std::int64_t{0}}, {"size", Shape{kSequence}}},
                      name);
  }

  Value embeddings() {
    const std::string module = below("embeddings");
    Value sum = look_up(input_ids_, module + ".word_embeddings", config_.vocab_size,
                        config_.pad_token_id.value_or(-1));
    Value types;
    if (modules_.token_types)
      types =
          look_up(token_type_ids_, module + ".token_type_embeddings", config_.type_vocab_size, {});
    const Value places = positions(module + ".position_embeddings");
    if (types) sum = graph_.add("add", {sum, types}, {}, module + ".add_token_types");
    sum = graph_.add("add", {sum, places}, {}, module + ".add_positions");
    const Value normalised =
        builder_.layer_norm(sum, module + ".LayerNorm", config_.layer_norm_eps);
    const Value kept =
        builder_.dropout(normalised, module + ".dropout", config_.hidden_dropout_prob,
                         max_shape(config_.embedding_width()));
    if (config_.embedding_width() == config_.hidden_size) return kept;
    return builder_.linear(kept, below(modules_.projection), config_.hidden_size);
  }

  Value linear_in_layer(Value x, std::string_view module, std::int64_t outputs) {
    return builder_.linear(x, in_layer(module), outputs);
  }
  // (B, S, H) -> (B, N, S, D), or (B, N, D, S) for keys
  Value heads(Value hidden, std::string_view module, Shape axes) {
    const std::int64_t count = config_.num_attention_heads;
    const std::string name = in_layer(module);
    const Value x = builder_.linear(hidden, name, config_.hidden_size);
    const Value split = builder_.reshape(x, name + ".split_heads",
                                         {kBatch, kSequence, count, config_.hidden_size / count});
    return builder_.transpose(split, name + ".heads", std::move(axes));
  }

  Value attention(Value hidden) {
    const LayerModules& modules = modules_.layer;
    const std::string self = in_layer(modules.attention);
    const std::int64_t head_size = config_.hidden_size / config_.num_attention_heads;
    const Value query = heads(hidden, modules.query, {0, 2, 1, 3});
    const Value key = heads(hidden, modules.key, {0, 2, 3, 1});
    const Value value = heads(hidden, modules.value, {0, 2, 1, 3});
    Value scores = graph_.add("matmul", {query, key}, {}, self + ".scores");  // (B, N, S, S)
    scores =
        graph_.add("scale", {scores}, {{"factor", 1 / std::sqrt(static_cast<double>(head_size))}},
                   self + ".scale");
    scores = graph_.add("add", {scores, mask_}, {}, self + ".mask");
    Value probabilities = graph_.add("softmax", {scores}, {}, self + ".softmax");
    probabilities =
        builder_.dropout(probabilities, self + ".dropout", config_.attention_probs_dropout_prob,
                         {kBatch, config_.num_attention_heads, limits_.tokens, limits_.tokens});
    Value context =
        graph_.add("matmul", {probabilities, value}, {}, self + ".context");  // (B, N, S, D)
    context = builder_.transpose(context, self + ".context.tokens", {0, 2, 1, 3});
    context =
        builder_.reshape(context, self + ".join_heads", {kBatch, kSequence, config_.hidden_size});
    return residual(linear_in_layer(context, modules.joined, config_.hidden_size), hidden,
                    modules.attended);
  }

  Value feed_forward(Value attended) {
    const LayerModules& modules = modules_.layer;
    Value x = linear_in_layer(attended, modules.widened, config_.intermediate_size);
    x = builder_.activation(x, in_layer(modules.activation), config_.hidden_act);
    return residual(linear_in_layer(x, modules.narrowed, config_.hidden_size), attended,
                    modules.fed_forward);
  }

  Value residual(Value x, Value skip, const ResidualModules& modules) {
    if (!modules.dropout.empty())
      x = builder_.dropout(x, in_layer(modules.dropout), config_.hidden_dropout_prob,
                           max_shape(config_.hidden_size));
    const Value sum = graph_.add("add", {x, skip}, {}, in_layer(modules.sum));
    return builder_.layer_norm(sum, in_layer(modules.norm), config_.layer_norm_eps);
  }

  ModuleBuilder& builder_;
  Graph& graph_;
  const EncoderModules& modules_;
  const EncoderConfig& config_;
  const InputLimits limits_;
  Value input_ids_, attention_mask_, token_type_ids_, mask_;
  std::string layer_;  // the one being built
};

}  // namespace

InputLimits input_limits(const EncoderModules& modules, const EncoderConfig& config) {
  InputLimits limits{.tokens = config.max_position_embeddings, .vocabulary = config.vocab_size};
  if (modules.positions_skip_padding) {
    limits.tokens -= config.pad_token_id.value_or(-1) + 1;
    limits.padding = config.pad_token_id;
  }
  const bool implied = modules.single_type_implied && config.type_vocab_size == 1;
  if (modules.token_types && !implied) limits.token_types = config.type_vocab_size;
  return limits;
}

std::string word_table(const EncoderModules& modules) {
  return fmt::format("{}.embeddings.word_embeddings.weight", modules.name);
}

std::string position_table(const EncoderModules& modules) {
  return fmt::format("{}.embeddings.position_embeddings.weight", modules.name);
}

Value add_encoder(ModuleBuilder& builder, const EncoderModules& modules,
                  const EncoderConfig& config, const GraphInputs& inputs) {
  return EncoderBuilder(builder, modules, config).build(inputs);
}

}  // namespace hone
