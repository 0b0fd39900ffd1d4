#pragma once

#include <map>
#include <string>

#include "hone/frontends/huggingface/model.h"

namespace hone {

/// Returns the factors of layer-wise learning rate decay by parameter name; parameters that are missing have factor 1.
/// With L layers, layer l (from 0) has decay^(L - l), the embeddings below have decay^(L + 1), and the head, including
/// a pooler, 1. This is discriminative fine-tuning (Howard and Ruder, ULMFiT, arXiv 1801.06146, section 3.2) with a
/// constant factor between neighbouring layers, counted as in BEiT (arXiv 2106.08254). ELECTRA (arXiv 2003.10555), the
/// source of the name `layerwise_lr_decay`, has one more factor between its last layer and the head. Layers are counted
/// in the graph, so removed ones do not count.
///
/// Throws `UserError` for a decay that is not above 0 and at most 1.
std::map<std::string, double, std::less<>> layer_rates(const Model& model, double decay);

}  // namespace hone
