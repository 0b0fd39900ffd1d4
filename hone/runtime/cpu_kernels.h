#pragma once

#include <string_view>

#include "hone/runtime/kernel.h"

/// The CPU kernels of hone/kernels as rows of the kernel table, one file per kind of work. Each one extracts pointers
/// and sizes from the tensors of a call. It rejects unsupported calls, and passes invalid ones to the reference,
/// which reports the error.
namespace hone {

KernelTable attention_kernels();
KernelTable dropout_kernels();
KernelTable element_kernels();
KernelTable gather_kernels();
KernelTable loss_kernels();
KernelTable product_kernels();
KernelTable row_kernels();
KernelTable training_kernels();

inline const float* floats(const Call& call, std::size_t index) {
  return call.input(index).data<float>();
}
/// Returns null if the input was omitted.
inline const float* optional_floats(const Call& call, std::size_t index) {
  return call.has_input(index) ? floats(call, index) : nullptr;
}
inline std::int64_t count(const Call& call) { return call.input(0).count(); }
inline std::int64_t row_length(const Tensor& tensor) { return tensor.size(-1); }

inline std::string_view anything(const CallSite&) { return ""; }

inline std::string_view at_most_six_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 6 && site.inputs[0].rank() <= 6 ? "" : "more than 6 dimensions";
}

}  // namespace hone
