#include "hone/frontends/huggingface/resnet.h"

namespace hone {
namespace {

// Adds modules under a path: `resnet.encoder.stages.0.layers.0`, …
class NetworkBuilder {
 public:
  NetworkBuilder(ModuleBuilder& builder, const EncoderConfig& config)
      : builder_(builder), config_(config) {}

  Value network(Value pixels, const std::string& name) {
    const ImageConfig& image = config_.image;
    Value x = convolved(pixels, name + ".embedder.embedder", config_.embedding_size, 7, 2,
                        config_.hidden_act);
    x = graph().add(
        "max_pool2d", {x},
        {{"kernel", std::int64_t{3}}, {"stride", std::int64_t{2}}, {"padding", std::int64_t{1}}},
        name + ".embedder.pooler");
    for (std::size_t stage = 0; stage < image.depths.size(); ++stage) {
      const bool halves = stage > 0 || image.downsample_in_first_stage;
      for (std::int64_t layer = 0; layer < image.depths[stage]; ++layer)
        x = residual_layer(x, fmt::format("{}.encoder.stages.{}.layers.{}", name, stage, layer),
                           image.hidden_sizes[stage], halves && layer == 0 ? 2 : 1);
    }
    return graph().add("global_average_pool", {x}, {}, name + ".pooler");
  }

 private:
  Graph& graph() { return builder_.graph(); }

  // A convolution that changes the size only by its stride, its norm, and an optional activation.
  Value convolved(Value x, const std::string& path, std::int64_t outputs, std::int64_t kernel,
                  std::int64_t stride, std::string_view activation) {
    x = builder_.convolution(x, path + ".convolution", outputs, kernel, stride, kernel / 2);
    x = builder_.batch_norm(x, path + ".normalization");
    return activation.empty() ? x : builder_.activation(x, path + ".activation", activation);
  }

  // activation(layers(x) + shortcut(x)); the shortcut is x itself if the shape stays the same.
  Value residual_layer(Value x, const std::string& path, std::int64_t outputs,
                       std::int64_t stride) {
    Value shortcut = x;
    if (stride != 1 || x.type().dim(1) != Dim(outputs))
      shortcut = convolved(x, path + ".shortcut", outputs, 1, stride, "");
    const Value y = config_.image.layer_type == "basic"
                        ? basic(x, path + ".layer", outputs, stride)
                        : bottleneck(x, path + ".layer", outputs, stride);
    return builder_.activation(graph().add("add", {y, shortcut}, {}, path + ".add"),
                               path + ".activation", config_.hidden_act);
  }

  // The convolutions of a layer are separated by relu, whatever activation the config has for the end of the layer.
  Value basic(Value x, const std::string& path, std::int64_t outputs, std::int64_t stride) {
    x = convolved(x, path + ".0", outputs, 3, stride, "relu");
    return convolved(x, path + ".1", outputs, 3, 1, "");
  }

  Value bottleneck(Value x, const std::string& path, std::int64_t outputs, std::int64_t stride) {
    const std::int64_t reduced = outputs / 4;
    const bool first = config_.image.downsample_in_bottleneck;
    x = convolved(x, path + ".0", reduced, 1, first ? stride : 1, "relu");
    x = convolved(x, path + ".1", reduced, 3, first ? 1 : stride, "relu");
    return convolved(x, path + ".2", outputs, 1, 1, "");
  }

  ModuleBuilder& builder_;
  const EncoderConfig& config_;
};

Value add_logits(ModuleBuilder& builder, const Architecture& architecture,
                 const EncoderConfig& config, const GraphInputs&) {
  const ImageConfig& image = config.image;
  const Value pixels = builder.graph().add_input(
      "pixel_values",
      {DType::f32, {Dim::of_symbol('B'), image.num_channels, image.image_size, image.image_size}});
  const Value pooled =
      NetworkBuilder(builder, config).network(pixels, std::string(architecture.encoder.name));
  return builder.linear(pooled, std::string(architecture.head.classes), config.num_labels());
}

void check(const EncoderConfig& config, std::string_view where) {
  const ImageConfig& image = config.image;
  user_check(image.hidden_sizes.size() == image.depths.size(),
             "{}: depths: expected {} numbers, one for each of hidden_sizes, got {}", where,
             image.hidden_sizes.size(), image.depths.size());
  for (const std::int64_t size : image.hidden_sizes)
    user_check(image.layer_type == "basic" || size % 4 == 0,
               "{}: hidden_sizes: expected multiples of 4 for bottleneck layers, got {}", where,
               size);
}

}  // namespace

Architecture resnet() {
  ConfigKeys keys;
  keys.model_type = "resnet";
  keys.class_name = "ResNetForImageClassification";
  keys.defaults.embedding_size = 64;
  keys.defaults.hidden_act = "relu";
  keys.sizes = {{"embedding_size", &EncoderConfig::embedding_size, 1, 65536}};
  keys.image_sizes = {{"num_channels", &ImageConfig::num_channels},
                      {"image_size", &ImageConfig::image_size}};
  keys.image_lists = {{"hidden_sizes", &ImageConfig::hidden_sizes},
                      {"depths", &ImageConfig::depths}};
  keys.image_switches = {{"downsample_in_first_stage", &ImageConfig::downsample_in_first_stage},
                         {"downsample_in_bottleneck", &ImageConfig::downsample_in_bottleneck}};
  keys.layer_type = "layer_type";
  keys.classifier_dropout = nullptr;
  keys.check = check;
  Architecture architecture;
  architecture.title = "ResNet";
  architecture.keys = keys;
  architecture.add_logits = add_logits;
  architecture.encoder.name = "resnet";
  architecture.head.name = "classifier";
  architecture.head.classes = "classifier.1";
  architecture.fresh = {"classifier."};
  architecture.landmark = "embedder.embedder.convolution.weight";
  architecture.buffers = {"*.num_batches_tracked"};
  return architecture;
}

}  // namespace hone
