#pragma once

#include <functional>
#include <span>
#include <string>

#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/session.h"

namespace hone {

/// Takes back what rounding weights adds to the outputs of layers on average (Nagel et al., Data-Free Quantization Through
/// Weight Equalization and Bias Correction, 2019, arXiv:1906.04721, section 4.2, with means that were measured):
///
///     b += (W - Ŵ) E[x],      Ŵ the values that W takes in its format
///
/// in every layer that has a quantized weight W (N, K), a bias b (N) that nothing else reads, and a mean. `mean_of` says what
/// a layer reads on average, (K), empty where that is not known. A layer without a bias stays as it is. To be called when the
/// states of formats are settled, before weights are packed; the history tells of it. Returns how many biases changed.
std::int64_t correct_biases(
    Model& model, const std::function<std::span<const double>(const std::string& layer)>& mean_of,
    const Session& session);

}  // namespace hone
