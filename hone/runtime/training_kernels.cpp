#include <algorithm>
#include <cmath>

#include "hone/kernels/adamw.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/sum.h"
#include "hone/runtime/cpu_kernels.h"

namespace hone {
namespace {

void global_norm(Call& call) {
  double sum = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    sum += kernels::sum_of_squares(call.pool(), call.input(i).count(), floats(call, i));
  *call.output().data<float>() = static_cast<float>(std::sqrt(sum));
}

void accumulate(Call& call) {
  float* const sum = call.input(0).data<float>();
  const std::int64_t n = count(call), contiguous[] = {1}, shape[] = {n};
  const kernels::Strided x{floats(call, 1), contiguous};
  if (*call.input(2).data<std::int64_t>() != 0) {
    kernels::copy(call.pool(), shape, x, sum);
  } else {
    kernels::add(call.pool(), shape, {sum, contiguous}, x, sum);
  }
  call.set_output(0, call.input(0));
}

/// Arguments of an AdamW step from the inputs after its tensors: norm, learning rate and step number.
struct AdamWStep {
  kernels::AdamW options;
  std::int64_t step;
  double clip;
};

AdamWStep adamw_step_of(const Call& call, std::size_t norm_index) {
  const auto attribute = [&](const char* name) { return call.attributes.get<double>(name); };
  const double norm = static_cast<double>(*floats(call, norm_index)),
               limit = attribute("max_grad_norm");
  return {{static_cast<double>(*floats(call, norm_index + 1)), attribute("beta1"),
           attribute("beta2"), attribute("eps"), attribute("weight_decay")},
          *call.input(norm_index + 2).data<std::int64_t>(),
          limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0};
}

void adamw(Call& call) {
  const AdamWStep step = adamw_step_of(call, 4);
  kernels::adamw_step(call.pool(), step.options, step.step, step.clip, count(call), floats(call, 1),
                      call.input(0).data<float>(), call.input(2).data<float>(),
                      call.input(3).data<float>());
  call.set_output(0, call.input(0));
  call.set_output(1, call.input(2));
  call.set_output(2, call.input(3));
}

void adamw_by_row(Call& call) {
  const Tensor& table = call.input(0);
  const std::span<const std::int64_t> named = call.input(1).values<std::int64_t>();
  if (!std::ranges::all_of(named,
                           [&](std::int64_t row) { return row >= -1 && row < table.size(0); }))
    return call.op.reference(call);
  const AdamWStep step = adamw_step_of(call, 5);
  kernels::adamw_step_by_row(call.pool(), step.options, step.step, step.clip, table.size(0),
                             table.size(1), std::ssize(named), named.data(), floats(call, 2),
                             table.data<float>(), call.input(3).data<float>(),
                             call.input(4).data<float>());
  call.set_output(0, table);
  call.set_output(1, call.input(3));
  call.set_output(2, call.input(4));
}

}  // namespace

KernelTable training_kernels() {
  return {
      {"accumulate", "cpu", "vector", anything, accumulate},
      {"adamw", "cpu", "fused", anything, adamw},
      {"adamw_by_row", "cpu", "fused", anything, adamw_by_row},
      {"global_norm", "cpu", "vector", anything, global_norm},
  };
}

}  // namespace hone
