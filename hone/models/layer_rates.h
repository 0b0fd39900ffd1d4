#pragma once

#include <map>
#include <string>

#include "hone/frontends/huggingface/model.h"

namespace hone {

/// What layer-wise decay multiplies the learning rate of each trainable parameter by (its names, and 1 where there is none):
/// of L layers, layer l, from 0, learns at decay^(L - l) times the rate, the embeddings below them at decay^(L + 1), the head,
/// with a pooler, at the rate itself. That is discriminative fine-tuning (Howard and Ruder, ULMFiT, arXiv 1801.06146, section
/// 3.2) with one factor between neighbours, as BEiT (arXiv 2106.08254) counts layers; ELECTRA (arXiv 2003.10555), whose
/// `layerwise_lr_decay` has the name, leaves one factor more between its last layer and the head. Layers are counted in the
/// graph, so of a model that has lost some, those that are left.
///
/// Throws `UserError` for a decay that is not above 0 and at most 1.
std::map<std::string, double, std::less<>> layer_rates(const Model& model, double decay);

}  // namespace hone
