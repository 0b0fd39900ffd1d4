#include "hone/frontends/huggingface/other_programs.h"

#include <algorithm>

namespace hone {

std::string notice_for_other_programs(const QuantizationPlan& plan) {
  const bool activations = std::ranges::any_of(plan, [](const auto& layer) {
    return layer.second.input.has_value() || layer.second.output.has_value();
  });
  if (!activations) return "";
  return "transformers and other programs that load this model take its rounded weights, but do "
         "not know the quantizers of inputs and outputs: their figures may differ from hone's";
}

}  // namespace hone
