#include "hone/frontends/huggingface/bert.h"

namespace hone {

Architecture bert() {
  return {.title = "BERT",
          .keys = bert_keys("bert", "BertForSequenceClassification"),
          .encoder = {.name = "bert"},
          .head = {.name = "bert.pooler",
                   .first_dropout = "",
                   .dense = "bert.pooler.dense",
                   .activation = "tanh",
                   .dropout = "dropout",
                   .classes = "classifier"},
          .fresh = {"classifier.", "bert.pooler."},
          .buffers = {"bert.embeddings.position_ids"}};
}

}  // namespace hone
