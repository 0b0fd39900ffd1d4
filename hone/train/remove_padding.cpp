#include "hone/train/remove_padding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "hone/base/error.h"
#include "hone/passes/autocast.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/hoist_slices.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

constexpr const char *kIds = "input_ids", *kAttentionMask = "attention_mask",
                     *kPositions = "positions", *kPlaces = "places", *kBegins = "text_begins",
                     *kLengths = "text_lengths";

const Dim kTexts = Dim::of_symbol('B'), kLength = Dim::of_symbol('S'),
          kTokens = Dim::of_symbol('T');

// Returns whether a shape has an element per token of padded texts.
bool is_of_tokens(const Shape& shape) {
  return shape.size() >= 2 && shape[0] == kTexts && shape[1] == kLength;
}

bool has_batch_axis(const Type& type) {
  return std::ranges::any_of(type.shape,
                             [](const Dim& dim) { return dim == kTexts || dim == kLength; });
}

bool has_length(const Type& type) {
  return std::ranges::find(type.shape, kLength) != type.shape.end();
}

// Returns the shape of the same value for the concatenated tokens of all texts.
Shape in_one_run(Shape shape) {
  shape[0] = 1;
  shape[1] = kTokens;
  return shape;
}

/// The reason why padding cannot be removed.
struct Refusal {
  std::string why;
};

/// Builds the graph without padding, operation by operation.
class Unpadder {
 public:
  Unpadder(const Graph& padded, std::int64_t token_step) : padded_(padded), graph_(padded.ops()) {
    layout_.token_step = token_step;
  }

  Graph build() {
    require(padded_.find(kIds) != nullptr && padded_.find(kAttentionMask) != nullptr,
            "there is no padding");
    begins_ = add_input(kBegins, {DType::i64, {kTexts}});
    lengths_ = add_input(kLengths, {DType::i64, {kTexts}});
    for (const auto& node : padded_.nodes()) {
      if (node->kind() == NodeKind::input) {
        convert_input(*node);
      } else if (node->kind() == NodeKind::parameter) {
        const Value parameter =
            graph_.add_parameter(node->name(), node->types()[0], node->role(), node->trainable());
        twins_[{node.get(), 0}] = parameter;
      } else {
        convert_operation(*node);
      }
    }
    for (const auto& [name, value] : padded_.outputs()) {
      require(!runs_.contains(value) && !masks_.contains(value),
              fmt::format("the output '{}' is of single tokens", name));
      graph_.set_output(name, twins_.at(value));
    }
    return std::move(graph_);
  }
  const TextLayout& layout() const { return layout_; }

 private:
  static void require(bool holds, const std::string& otherwise) {
    if (!holds) throw Refusal{otherwise};
  }
  static void refuse(const Node& node, const std::string& why) {
    throw Refusal{fmt::format("%{} ({}): {}", node.name(), node.op().name, why)};
  }

  Value add_input(const std::string& name, Type type) {
    require(graph_.find(name) == nullptr, fmt::format("an input is called '{}'", name));
    return graph_.add_input(name, std::move(type));
  }

  void convert_input(const Node& node) {
    const Type& type = node.types()[0];
    const Value own{const_cast<Node*>(&node), 0};
    if (node.name() == kAttentionMask) {
      masks_.insert(own);
    } else if (is_of_tokens(type.shape)) {
      twins_[own] = add_input(node.name(), {type.dtype, in_one_run(type.shape)});
      runs_.insert(own);
    } else {
      require(!has_length(type),
              fmt::format("the input '{}' depends on the length of texts", node.name()));
      twins_[own] = add_input(node.name(), type);
    }
  }

  bool runs(const Value& value) const { return runs_.contains(value); }

  // Returns the positions of all tokens, an input that is created once.
  Value positions(std::int64_t first, std::optional<std::int64_t> padding, const Node& node) {
    if (positions_) {
      if (layout_.first_position != first || layout_.position_padding != padding)
        refuse(node, "another operation counts positions differently");
      return positions_;
    }
    layout_.first_position = first;
    layout_.position_padding = padding;
    return positions_ = add_input(kPositions, {DType::i64, {1, kTokens}});
  }

  Value places(std::int64_t limit, const Node& node) {
    if (layout_.limit != 0 && layout_.limit != limit)
      refuse(node, "another operation counts places differently");
    layout_.limit = limit;
    if (!places_) places_ = add_input(kPlaces, {DType::i64, {1, kTokens}});
    return places_;
  }

  // Sets the counterpart of a padded value: with concatenated tokens, or unchanged.
  void put(const Node& node, Value twin, bool is_run) {
    const Value own{const_cast<Node*>(&node), 0};
    twins_[own] = twin;
    if (is_run) runs_.insert(own);
  }

  Value converted(const Node& node, std::size_t input) const {
    const Value value = node.inputs()[input];
    if (masks_.contains(value)) refuse(node, "it reads the mask");
    return twins_.at(value);
  }

  void convert_operation(const Node& node) {
    const std::vector<Value>& inputs = node.inputs();
    if (node.is("attention_mask")) {
      masks_.insert({const_cast<Node*>(&node), 0});
    } else if (node.is("attention")) {
      convert_attention(node);
    } else if (node.is("slice")) {
      convert_slice(node);
    } else if (node.is("token_positions") && runs(inputs[0])) {
      put(node, positions(0, node.attributes().get<std::int64_t>("padding"), node), true);
    } else if (std::ranges::any_of(inputs, [&](const Value& input) { return runs(input); })) {
      convert_token_wise(node);
    } else {
      if (std::ranges::any_of(node.types(), has_length))
        refuse(node, "it depends on the length of texts");
      copy(node, node.attributes());
    }
  }

  Node& copy(const Node& node, const Attributes& attributes, std::vector<Value> more = {}) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) inputs.push_back(converted(node, i));
    inputs.insert(inputs.end(), more.begin(), more.end());
    Node& twin = graph_.add_node(node.op().name, std::move(inputs), attributes, node.name());
    for (int i = 0; i < static_cast<int>(node.types().size()); ++i)
      twins_[{const_cast<Node*>(&node), i}] = {&twin, i};
    return twin;
  }

  // Returns whether an operation treats tokens independently: by its trait, or because it multiplies rows by a weight
  // or looks up rows of a table.
  bool treats_tokens_independently(const Node& node) const {
    if (node.is("linear")) return !runs(node.inputs()[1]);
    if (node.is("embedding")) return runs(node.inputs()[0]);
    return node.trait() == Trait::element_wise || node.trait() == Trait::row_reduction;
  }

  // Handles an operation that treats every token independently of the others.
  void convert_token_wise(const Node& node) {
    for (const Value& input : node.inputs())
      if (!runs(input) && has_batch_axis(input.type()))
        refuse(node, "it combines tokens with other values of the batch");
    for (const Type& type : node.types())
      if (!is_of_tokens(type.shape)) refuse(node, "its result is not one for each token");
    if (node.is("dropout")) {
      convert_dropout(node);
    } else if (node.is("reshape")) {
      Attributes attributes = node.attributes();
      attributes.set("shape", in_one_run(attributes.get<Shape>("shape")));
      copy(node, attributes);
    } else {
      if (!treats_tokens_independently(node)) refuse(node, "it may mix tokens");
      copy(node, node.attributes());
    }
    for (int i = 0; i < static_cast<int>(node.types().size()); ++i)
      runs_.insert({const_cast<Node*>(&node), i});
  }

  // Dropout takes random words by the position of a token in its text.
  void convert_dropout(const Node& node) {
    Attributes attributes = node.attributes();
    const Shape limits = attributes.get<Shape>("limits");
    const Shape& shape = node.types()[0].shape;
    const bool counts =
        limits.size() == 3 && limits[0] == kTexts && limits[1].symbol == 0 && limits[2] == shape[2];
    if (!counts) refuse(node, "its random numbers depend on places in the padded batch");
    attributes.set("limits", Shape{});
    copy(node, attributes, {places(limits[1].size, node)});
  }

  // Handles a slice of positions from the beginning of a table, or of the first token of each text.
  void convert_slice(const Node& node) {
    const Attributes& attributes = node.attributes();
    const auto axis = attributes.get<std::int64_t>("axis"),
               begin = attributes.get<std::int64_t>("begin");
    const Dim size = attributes.get<Shape>("size")[0];
    if (size == kLength) {
      const Type& table = node.inputs()[0].type();
      if (axis != 0 || table.rank() != 2 || has_batch_axis(table))
        refuse(node, "it is not a table of positions");
      put(node,
          graph_.add("embedding", {positions(begin, std::nullopt, node), converted(node, 0)}, {},
                     node.name()),
          true);
    } else if (!runs(node.inputs()[0])) {
      copy(node, attributes);
    } else if (axis == 1 && begin == 0 && size == Dim(1) && node.types()[0].rank() == 3) {
      put(node, graph_.add("take_rows", {converted(node, 0), begins_}, {}, node.name()), false);
    } else if (axis >= 2) {
      copy(node, attributes);
      runs_.insert({const_cast<Node*>(&node), 0});
    } else {
      refuse(node, "it reads tokens other than the first");
    }
  }

  void convert_attention(const Node& node) {
    Attributes attributes = node.attributes();
    const double* const p = std::get_if<double>(attributes.find("p"));
    const std::size_t first = p != nullptr && *p > 0 ? 4 : 3;
    const std::vector<Value>& inputs = node.inputs();
    if (!runs(inputs[1]) || !runs(inputs[2])) refuse(node, "its keys are not of tokens");
    if (inputs.size() <= first || !masks_.contains(inputs[first]))
      refuse(node, "it attends to padding, or by another mask");
    std::vector<Value> read;
    for (std::size_t i = 0; i < first; ++i) read.push_back(converted(node, i));
    read.push_back(begins_);
    read.push_back(lengths_);
    const Shape& limits = attributes.get<Shape>("limits");
    if (first == 4 && (limits.size() != 4 || limits[2].symbol != 0 || limits[3].symbol != 0))
      refuse(node, "its random numbers depend on places in the padded batch");
    attributes.set("unpadded", true);
    attributes.set("rest", layout_.token_step > 1);
    put(node, graph_.add("attention", std::move(read), attributes, node.name()), runs(inputs[0]));
  }

  const Graph& padded_;
  Graph graph_;
  TextLayout layout_;
  Value begins_ = {}, lengths_ = {}, positions_ = {}, places_ = {};
  std::map<Value, Value> twins_;  // counterparts of padded values
  std::set<Value> runs_,
      masks_;  // padded values: with concatenated tokens; the mask and values derived from it
};

}  // namespace

std::optional<TextLayout> remove_padding(Graph& graph, std::int64_t token_step, std::string* why) {
  try {
    Unpadder unpadder(graph, token_step);
    Graph built = unpadder.build();
    graph = std::move(built);
    return unpadder.layout();
  } catch (const Refusal& refusal) {
    if (why != nullptr) *why = refusal.why;
    return std::nullopt;
  }
}

std::optional<TextLayout> prepare_for_gradients(Graph& graph, std::int64_t token_step) {
  hoist_slices_before_gradients(graph);
  fuse_attention(graph);
  return remove_padding(graph, token_step);
}

std::optional<TextLayout> prepare_for_gradients(Graph& graph, const Session& session,
                                                std::int64_t token_step) {
  user_check(session.values != DType::f16,
             "training in fp16 loses small gradients: hone does not scale losses; use bf16 "
             "(`precision`)");
  std::optional<TextLayout> layout = prepare_for_gradients(graph, token_step);
  if (session.values != DType::f32)
    autocast(graph, session.values,
             {.convolutions = computes_halves("conv2d", session.library.kernels, session.device)});
  return layout;
}

std::int64_t largest_batch_tokens(std::vector<std::int64_t> lengths, std::int64_t texts) {
  std::ranges::sort(lengths, std::ranges::greater());
  lengths.resize(static_cast<std::size_t>(std::min(texts, std::ssize(lengths))));
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

NamedTensors without_padding(NamedTensors batch, const TextLayout& layout) {
  const Tensor mask = dense_on(batch.at(kAttentionMask), cpu());
  const std::int64_t texts = mask.size(0), length = mask.size(1);
  const std::span<const std::int64_t> real = mask.values<std::int64_t>();
  std::vector<std::int64_t> begins, lengths, kept, places;
  for (std::int64_t b = 0; b < texts; ++b) {
    begins.push_back(std::ssize(kept));
    for (std::int64_t s = 0; s < length; ++s) {
      if (real[static_cast<std::size_t>(b * length + s)] == 0) continue;
      kept.push_back(b * length + s);
      places.push_back(b * layout.limit + s);
    }
    lengths.push_back(std::ssize(kept) - begins.back());
    HONE_ASSERT(lengths.back() > 0 && kept[static_cast<std::size_t>(begins.back())] == b * length &&
                    kept.back() == b * length + lengths.back() - 1,
                "text {} of a batch does not begin in its first column", b);
  }
  const std::int64_t tokens = whole_steps(std::ssize(kept), layout.token_step);
  const Sizes run = {1, tokens};
  const auto with_rest = [&](std::vector<std::int64_t> values, std::int64_t of_rest) {
    values.resize(static_cast<std::size_t>(tokens), of_rest);
    return Tensor::of(run, values);
  };
  std::vector<std::int64_t> positions;
  const Tensor ids = dense_on(batch.at(kIds), cpu());
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    std::int64_t position = layout.position_padding.value_or(layout.first_position - 1);
    for (std::int64_t i = 0; i < lengths[b]; ++i) {
      const std::int64_t id =
          ids.data<std::int64_t>()[kept[static_cast<std::size_t>(begins[b] + i)]];
      const bool is_padding = layout.position_padding && id == *layout.position_padding;
      positions.push_back(is_padding ? id : ++position);
    }
  }
  batch.erase(kAttentionMask);
  for (auto& [name, tensor] : batch) {
    if (tensor.sizes() != Sizes{texts, length} || tensor.dtype() != DType::i64) continue;
    const Tensor padded = dense_on(tensor, cpu());
    std::vector<std::int64_t> values;
    for (const std::int64_t at : kept) values.push_back(padded.data<std::int64_t>()[at]);
    tensor = with_rest(std::move(values), 0);
  }
  // Any valid value does for the appended tokens.
  batch[kPositions] = with_rest(std::move(positions), layout.first_position);
  batch[kPlaces] = with_rest(std::move(places), 0);
  batch[kBegins] = Tensor::of({texts}, begins);
  batch[kLengths] = Tensor::of({texts}, lengths);
  return batch;
}

}  // namespace hone
