#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/model.h"

/// What programs that know nothing of graphs and quantizers (transformers) make of a model that was saved. They build what its config says and
/// take weights in fp32. Those of a quantized model are stored as the values they take, but inputs and outputs are quantized here alone:
/// `for_other_programs` (models/transform.h) is what they compute.
namespace hone {

/// A sentence for people, without its full stop; "" for a plan of weights and biases only, which are the same everywhere.
std::string notice_for_other_programs(const QuantizationPlan& plan);

/// The sizes of an encoder, as its graph has them.
struct EncoderShapes {
  std::int64_t hidden_size = 0, head_size = 0;
  std::vector<std::int64_t> heads = {}, neurons = {};  ///< of each layer
  std::int64_t tokens = 0;

  std::size_t layers() const { return heads.size(); }
};
const Fields& fields_of(const EncoderShapes*);
/// Nothing for a model that reads images.
std::optional<EncoderShapes> encoder_shapes(const Model& model);
/// "2 layers, hidden size 128, 2 heads of 64 and 512 neurons in each layer, 30,522 tokens".
std::string to_text(const EncoderShapes& shapes);

/// Whether `transformers` loads a folder of the model and computes it.
struct TransformersLoading {
  std::string reason =
      {};  ///< why it does not, a clause: "layer 1 has 1 head of 64 instead of 2, …"
  bool unpacks = false;  ///< `hone unpack --loadable transformers` writes a folder that it loads

  bool loads() const { return reason.empty(); }
};

/// Decides that for all of hone. The config must build the model's graph, quantizers, masks and dropout aside, and the weights must not be packed.
TransformersLoading transformers_loading(const Model& model);

/// Who can load the model's folder, and why others cannot: a sentence or two.
std::string loading_text(const Model& model);

}  // namespace hone
