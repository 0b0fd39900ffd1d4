#include "hone/runtime/operand_strides.h"

namespace hone {

Sizes broadcast_operand_strides(const Tensor& operand, const Sizes& sizes) {
  Sizes strides(sizes.size(), 0);
  const std::size_t skipped = sizes.size() - operand.sizes().size();
  for (std::size_t i = 0; i < operand.sizes().size(); ++i) {
    if (operand.sizes()[i] != 1) strides[skipped + i] = operand.strides()[i];
  }
  return strides;
}

MatrixBatches matrix_batches(const Call& call) {
  const Sizes sizes = call.output_sizes(), a = broadcast_operand_strides(call.input(0), sizes),
              b = broadcast_operand_strides(call.input(1), sizes), y = contiguous_strides(sizes);
  MatrixBatches batches;
  const std::size_t leading = sizes.size() - 2;
  for (std::size_t i = 0; i < leading; ++i) {
    const std::size_t at = 2 - leading + i;
    batches.counts[at] = sizes[i];
    batches.a[at] = a[i];
    batches.b[at] = b[i];
    batches.y[at] = y[i];
  }
  return batches;
}

std::string_view two_batch_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 4 ? "" : "more than 2 leading dimensions";
}

bool rows_times_matrix(const Call& call) {
  return call.input(1).rank() == 2 && call.input(0).contiguous();
}

}  // namespace hone
