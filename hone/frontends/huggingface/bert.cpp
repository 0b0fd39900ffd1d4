#include "hone/frontends/huggingface/bert.h"

#include <cmath>

#include "hone/base/random.h"
#include "hone/base/text.h"

namespace hone {
namespace {

const Dim kBatch = Dim::of_symbol('B');
const Dim kSequence = Dim::of_symbol('S');

struct Activation {
  std::string_view hugging_face_name;
  std::string_view op;
  Attributes attributes;
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> rows = {
      {"gelu", "gelu", {{"approximate", std::string("none")}}},
      {"gelu_new", "gelu", {{"approximate", std::string("tanh")}}},
      {"gelu_pytorch_tanh", "gelu", {{"approximate", std::string("tanh")}}},
      {"relu", "relu", {}},
      {"tanh", "tanh", {}},
  };
  return rows;
}

const Activation& activation(std::string_view name) {
  std::vector<std::string> known;
  for (const Activation& row : activations()) {
    if (row.hugging_face_name == name) return row;
    known.emplace_back(row.hugging_face_name);
  }
  fail("config.json: hidden_act '{}' is not supported; supported are {}", name,
       fmt::join(known, ", "));
}

/// Builds from the embeddings up to the loss; one function per module of Hugging Face's.
class BertBuilder {
 public:
  BertBuilder(const OpTable& ops, const BertConfig& config, const GraphInputs& inputs)
      : graph_(ops), config_(config), inputs_(inputs) {}

  Graph build() {
    input_ids_ = graph_.add_input("input_ids", {DType::i64, {kBatch, kSequence}});
    attention_mask_ = input_or_full(inputs_.attention_mask, "attention_mask", 1.0);
    token_type_ids_ = input_or_full(inputs_.token_type_ids, "token_type_ids", 0.0);
    Value hidden = embeddings();  // (B, S, H)
    mask_ =
        graph_.add("attention_mask", {attention_mask_}, {}, "bert.attention_mask");  // (B, 1, 1, S)
    for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i)
      hidden = layer(hidden, fmt::format("bert.encoder.layer.{}", i));
    const Value logits = classifier(pooler(hidden));  // (B, labels)
    graph_.set_output("logits", logits);
    if (inputs_.labels) {
      const Value labels = graph_.add_input("labels", {DType::i64, {kBatch}});
      graph_.set_output("loss", graph_.add("cross_entropy", {logits, labels}, {}, "loss"));
    }
    return std::move(graph_);
  }

 private:
  Value input_or_full(bool given, const std::string& name, double value) {
    if (given) return graph_.add_input(name, {DType::i64, {kBatch, kSequence}});
    return graph_.add("full", {input_ids_}, {{"value", value}, {"dtype", std::string("i64")}},
                      name);
  }
  Value parameter(const std::string& name, Shape shape, ParameterRole role) {
    return graph_.add_parameter(name, {DType::f32, std::move(shape)}, role, /*trainable=*/true);
  }
  Value weight(const std::string& module, Shape shape) {
    return parameter(module + ".weight", std::move(shape), ParameterRole::weight);
  }
  Value bias(const std::string& module, Dim size) {
    return parameter(module + ".bias", {size}, ParameterRole::bias);
  }
  Value linear(Value x, const std::string& name, std::int64_t outputs) {
    const Value matrix = weight(name, {outputs, x.type().dim(-1)});
    return graph_.add("linear", {x, matrix, bias(name, outputs)}, {}, name);
  }
  Value layer_norm(Value x, const std::string& name) {
    const Dim size = x.type().dim(-1);
    const Value gamma = parameter(name + ".weight", {size}, ParameterRole::gain);
    return graph_.add("layer_norm", {x, gamma, bias(name, size)}, {{"eps", config_.layer_norm_eps}},
                      name);
  }
  // `limits` is the shape of x with the most tokens a text may have, so that padding decides on no mask.
  Value dropout(Value x, const std::string& name, double p, Shape limits) {
    if (p == 0) return x;
    if (!random_key_) random_key_ = graph_.add_input("random_key", {DType::i64, {}});
    const auto stream = static_cast<std::int64_t>(stream_of(name) >> 1);  // attributes are signed
    return graph_.add("dropout", {x, random_key_},
                      {{"p", p}, {"stream", stream}, {"limits", std::move(limits)}}, name);
  }
  Shape most_tokens() const {
    return {kBatch, config_.max_position_embeddings, config_.hidden_size};
  }
  Value reshape(Value x, const std::string& name, Shape shape) {
    return graph_.add("reshape", {x}, {{"shape", std::move(shape)}}, name);
  }
  Value transpose(Value x, const std::string& name, Shape axes) {
    return graph_.add("transpose", {x}, {{"axes", std::move(axes)}}, name);
  }

  Value embeddings() {
    const std::string module = "bert.embeddings";
    const std::int64_t hidden = config_.hidden_size;
    const Value words =
        graph_.add("embedding",
                   {input_ids_, weight(module + ".word_embeddings", {config_.vocab_size, hidden})},
                   {{"padding", config_.pad_token_id.value_or(-1)}}, module + ".word_embeddings");
    const Value types = graph_.add("embedding",
                                   {token_type_ids_, weight(module + ".token_type_embeddings",
                                                            {config_.type_vocab_size, hidden})},
                                   {}, module + ".token_type_embeddings");
    const Value table =
        weight(module + ".position_embeddings", {config_.max_position_embeddings, hidden});
    const Value positions =
        graph_.add("slice", {table}, {{"axis", std::int64_t{0}}, {"size", Shape{kSequence}}},
                   module + ".position_embeddings");
    Value sum = graph_.add("add", {words, types}, {}, module + ".add_token_types");
    sum = graph_.add("add", {sum, positions}, {}, module + ".add_positions");
    return dropout(layer_norm(sum, module + ".LayerNorm"), module + ".dropout",
                   config_.hidden_dropout_prob, most_tokens());
  }

  // (B, S, H) -> (B, N, S, D), or (B, N, D, S) for keys
  Value heads(Value x, const std::string& name, Shape axes) {
    const std::int64_t count = config_.num_attention_heads;
    const Value split =
        reshape(x, name + ".split_heads", {kBatch, kSequence, count, config_.hidden_size / count});
    return transpose(split, name + ".heads", std::move(axes));
  }

  Value attention(Value hidden, const std::string& module) {
    const std::string self = module + ".self";
    const std::int64_t head_size = config_.hidden_size / config_.num_attention_heads;
    const Value query =
        heads(linear(hidden, self + ".query", config_.hidden_size), self + ".query", {0, 2, 1, 3});
    const Value key =
        heads(linear(hidden, self + ".key", config_.hidden_size), self + ".key", {0, 2, 3, 1});
    const Value value =
        heads(linear(hidden, self + ".value", config_.hidden_size), self + ".value", {0, 2, 1, 3});
    Value scores = graph_.add("matmul", {query, key}, {}, self + ".scores");  // (B, N, S, S)
    scores =
        graph_.add("scale", {scores}, {{"factor", 1 / std::sqrt(static_cast<double>(head_size))}},
                   self + ".scale");
    scores = graph_.add("add", {scores, mask_}, {}, self + ".mask");
    Value probabilities = graph_.add("softmax", {scores}, {}, self + ".softmax");
    const std::int64_t tokens = config_.max_position_embeddings;
    probabilities = dropout(probabilities, self + ".dropout", config_.attention_probs_dropout_prob,
                            {kBatch, config_.num_attention_heads, tokens, tokens});
    Value context =
        graph_.add("matmul", {probabilities, value}, {}, self + ".context");  // (B, N, S, D)
    context = transpose(context, self + ".context.tokens", {0, 2, 1, 3});
    context = reshape(context, self + ".join_heads", {kBatch, kSequence, config_.hidden_size});
    return residual(linear(context, module + ".output.dense", config_.hidden_size), hidden,
                    module + ".output");
  }

  Value residual(Value x, Value skip, const std::string& module) {
    x = dropout(x, module + ".dropout", config_.hidden_dropout_prob, most_tokens());
    return layer_norm(graph_.add("add", {x, skip}, {}, module + ".add"), module + ".LayerNorm");
  }

  Value layer(Value hidden, const std::string& module) {
    const Activation& act = activation(config_.hidden_act);
    const Value attended = attention(hidden, module + ".attention");
    Value x = linear(attended, module + ".intermediate.dense", config_.intermediate_size);
    x = graph_.add(act.op, {x}, act.attributes, module + ".intermediate.intermediate_act_fn");
    return residual(linear(x, module + ".output.dense", config_.hidden_size), attended,
                    module + ".output");
  }

  Value pooler(Value hidden) {
    const Value first =
        graph_.add("slice", {hidden}, {{"axis", std::int64_t{1}}, {"size", Shape{1}}},
                   "bert.pooler.first_token");
    const Value rows = reshape(first, "bert.pooler.rows", {kBatch, config_.hidden_size});
    return graph_.add("tanh", {linear(rows, "bert.pooler.dense", config_.hidden_size)}, {},
                      "bert.pooler.activation");
  }

  Value classifier(Value pooled) {
    const Value kept = dropout(pooled, "dropout", config_.classifier_dropout_prob(),
                               {kBatch, config_.hidden_size});
    return linear(kept, "classifier", config_.num_labels());
  }

  Graph graph_;
  const BertConfig& config_;
  const GraphInputs& inputs_;
  Value input_ids_, attention_mask_, token_type_ids_, mask_, random_key_;
};

}  // namespace

Graph build_bert(const OpTable& ops, const BertConfig& config, const GraphInputs& inputs) {
  return BertBuilder(ops, config, inputs).build();
}

}  // namespace hone
