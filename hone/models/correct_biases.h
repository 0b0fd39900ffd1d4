#pragma once

#include <functional>
#include <span>
#include <string>

#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/session.h"

namespace hone {

/// Removes the mean error that rounded weights cause in the outputs of layers (Nagel et al., Data-Free Quantization
/// Through Weight Equalization and Bias Correction, 2019, arXiv:1906.04721, section 4.2, with measured means):
///
///     b += (W - Ŵ) E[x],      Ŵ = W rounded to its format
///
/// in every layer with a quantized weight W (N, K), a bias b (N) that nothing else reads, and a mean. `mean_of` returns
/// a layer's mean input (K), empty if unknown. A layer without a bias stays unchanged. Call this after format states
/// are final and before weights are packed; it is recorded in the history. Returns the number of changed biases.
std::int64_t correct_biases(
    Model& model, const std::function<std::span<const double>(const std::string& layer)>& mean_of,
    const Session& session);

}  // namespace hone
