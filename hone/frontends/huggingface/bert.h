#pragma once

#include "hone/frontends/huggingface/config.h"
#include "hone/ir/graph.h"

namespace hone {

/// Which inputs a graph has besides `input_ids` i64[B, S].
struct GraphInputs {
  bool attention_mask =
      true;  ///< i64[B, S], 1 for text, 0 for padding; without it everything is text
  bool token_type_ids = true;  ///< i64[B, S]; without them all are 0
  bool labels = false;         ///< i64[B]; with them there is a second output, `loss` f32[]
};

/// BertForSequenceClassification (Devlin et al., "BERT", 2019) as Hugging Face computes it, in training mode: with a
/// `dropout` where the config has a probability above 0, drawing from the input `random_key` i64[]. For inference run
/// `remove_dropout`. Nodes carry the module paths of Hugging Face, parameters the names of its checkpoints.
///
/// Output `logits` f32[B, labels]. Throws `UserError` for an activation that there is no operation for.
Graph build_bert(const OpTable& ops, const BertConfig& config, const GraphInputs& inputs);

}  // namespace hone
