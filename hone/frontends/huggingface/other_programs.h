#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/model.h"

/// How programs without hone's graphs and quantizers (transformers) load a saved model. They build the model from its
/// config and read fp32 weights. A quantized model stores its rounded weights, but only hone quantizes inputs and
/// outputs. `for_other_programs` (models/transform.h) is the model that they compute.
namespace hone {

/// Returns a sentence for users, without its full stop; "" for a plan of weights and biases only, which give the same
/// results everywhere.
std::string notice_for_other_programs(const QuantizationPlan& plan);

/// The sizes of an encoder, derived from its graph.
struct EncoderShapes {
  std::int64_t hidden_size = 0, head_size = 0;
  std::vector<std::int64_t> heads = {}, neurons = {};  ///< of each layer
  std::int64_t tokens = 0;

  std::size_t layers() const { return heads.size(); }
};
const Fields& fields_of(const EncoderShapes*);
/// Returns nothing for an image model.
std::optional<EncoderShapes> encoder_shapes(const Model& model);
/// "2 layers, hidden size 128, 2 heads of 64 and 512 neurons in each layer, 30,522 tokens".
std::string to_text(const EncoderShapes& shapes);

/// Whether `transformers` can load a folder of the model and compute the same results.
struct TransformersLoading {
  std::string reason = {};  ///< why not, as a clause: "layer 1 has 1 head of 64 instead of 2, …"
  bool unpacks = false;  ///< `hone unpack --loadable transformers` writes a folder that it can load

  bool loads() const { return reason.empty(); }
};

/// The only place in hone that decides this. The config must build the model's graph, apart from quantizers, masks and
/// dropout, and the weights must not be packed.
TransformersLoading transformers_loading(const Model& model);

/// Returns a sentence or two on which programs can load the model's folder, and why others cannot.
std::string loading_text(const Model& model);

}  // namespace hone
