#include "hone/frontends/huggingface/electra.h"

namespace hone {
namespace {

ConfigKeys electra_keys() {
  ConfigKeys keys = bert_keys("electra", "ElectraForSequenceClassification");
  keys.sizes.push_back({"embedding_size", &EncoderConfig::embedding_size, 1, 65536});
  keys.defaults.embedding_size = 128;
  keys.defaults.hidden_size = 256;
  keys.defaults.num_attention_heads = 4;
  keys.defaults.intermediate_size = 1024;
  return keys;
}

}  // namespace

Architecture electra() {
  return {.title = "ELECTRA",
          .keys = electra_keys(),
          .encoder = {.name = "electra", .projection = "embeddings_project"},
          .head = {.name = "classifier",
                   .first_dropout = "classifier.first_dropout",
                   .dense = "classifier.dense",
                   .activation = "gelu",
                   .dropout = "classifier.dropout",
                   .classes = "classifier.out_proj"},
          .fresh = {"classifier."},
          .buffers = {"electra.embeddings.position_ids"}};
}

}  // namespace hone
