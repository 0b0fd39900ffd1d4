#include <algorithm>
#include <array>

#include "hone/cuda/convert.h"
#include "hone/cuda/copy.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/products.h"

// Products by cuBLASLt of fp32, bf16 or fp16 values.
namespace hone::cuda {
namespace {

// ---- linear

Product linear_product_of(Call& call) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  Product p{.rows = row_count(x), .columns = weight.size(0), .inner = weight.size(1)};
  p.type = x.dtype();
  p.a = {x.device_pointer(), p.inner, 1};
  p.b = {weight.device_pointer(), 1, p.inner};
  if (call.has_input(2)) p.bias = call.input(2).device_pointer();
  p.result = call.output().device_pointer();
  return p;
}

void run_linear(Call& call) { multiply(device_of(call.device), linear_product_of(call)); }

struct ActivationProgram {
  std::string_view name;
  FusedActivation fused;          // none: a separate kernel
  std::array<Program, 3> finish;  // for f32, bf16, f16
};

std::array<Program, 3> finish_by(const std::string& expression) {
  const auto of = [&](DType dtype) {
    return Program{"finish_linear.cu", {value_definition(dtype), "ACTIVATION=" + expression}};
  };
  return {of(DType::f32), of(DType::bf16), of(DType::f16)};
}

const ActivationProgram& activation_program(std::string_view name) {
  static const std::array<ActivationProgram, 5> rows = {
      {{"none", FusedActivation::none, finish_by("x")},
       {"relu", FusedActivation::relu, finish_by("relu(x)")},
       {"gelu", FusedActivation::none, finish_by("gelu_erf(x)")},
       {"gelu_tanh", FusedActivation::gelu_tanh, finish_by("gelu_tanh(x)")},
       {"tanh", FusedActivation::none, finish_by("std::tanh(x)")}}};
  const auto found = std::ranges::find(rows, name, &ActivationProgram::name);
  HONE_ASSERT(found != rows.end(), "no activation {}", name);
  return *found;
}

// A separate kernel computes what cuBLASLt cannot fuse into a product.
void run_fused_linear(Call& call) {
  const auto& activation = call.attributes.get<std::string>("activation");
  const ActivationProgram& row = activation_program(activation);
  const void* const residual = call.has_input(3) ? call.input(3).device_pointer() : nullptr;
  Product p = linear_product_of(call);
  if (activation == "none") {
    p.residual = residual;
    return multiply(device_of(call.device), p);
  }
  if (residual == nullptr) p.activation = row.fused;
  multiply(device_of(call.device), p);
  const std::int64_t count = p.rows * p.columns;
  if (p.activation != FusedActivation::none || count == 0) return;
  const DType type = call.input(0).dtype();
  const Program& finish = row.finish[type == DType::f32 ? 0 : type == DType::bf16 ? 1 : 2];
  launch(call.device, {finish, "finish_linear", blocks_for(call.device, count, 256), {256}}, count,
         residual, p.result);
}

// dweight (N, K) = dy (T, N)^T x (T, K)
void run_linear_weight_gradient(Call& call) {
  const Tensor &x = call.input(0), &dy = call.input(1);
  Product p{.rows = row_length(dy), .columns = row_length(x), .inner = row_count(x)};
  p.type = x.dtype();
  p.a = {dy.device_pointer(), 1, p.rows};
  p.b = {x.device_pointer(), p.columns, 1};
  p.result = call.output().device_pointer();
  if (p.inner == 0) return fill_zeros(call.device, p.result, call.output().size_bytes());
  multiply(device_of(call.device), p);
}

// ---- matmul

std::string_view at_most_two_batch_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 4 ? "" : "more than 2 leading dimensions";
}

// Returns the strides of the last two leading dimensions, 0 along those that are broadcast.
std::array<std::int64_t, 2> batch_strides(const Tensor& operand) {
  std::array<std::int64_t, 2> strides{};
  const std::int64_t leading = operand.rank() - 2;
  for (std::int64_t i = 0; i < leading; ++i)
    if (operand.size(i) != 1)
      strides[static_cast<std::size_t>(2 - leading + i)] =
          operand.strides()[static_cast<std::size_t>(i)];
  return strides;
}

Matrix matrix_of(const Tensor& tensor) {
  const std::size_t last = tensor.strides().size() - 1;
  return {tensor.device_pointer(), tensor.strides()[last - 1], tensor.strides()[last]};
}

// Returns whether the matrices of both leading dimensions are equally spaced, as cuBLASLt requires of a batch.
bool is_evenly_strided(const Tensor& operand, std::int64_t batch) {
  const std::array<std::int64_t, 2> strides = batch_strides(operand);
  return strides[0] == strides[1] * batch;
}

// Returns the operand. If it is not broadcast and its matrices are not equally spaced, like those of attention heads,
// returns a copy: launching a product for each matrix takes longer.
Tensor evenly_strided(const Call& call, const Tensor& operand, const Sizes& leading) {
  if (leading.size() < 2 || leading[0] == 1 || is_evenly_strided(operand, leading[1]))
    return operand;
  const Sizes own(operand.sizes().begin(), operand.sizes().end() - 2);
  if (own != leading) return operand;
  Tensor dense = call.allocate(operand.dtype(), operand.sizes());
  copy_dense(call.device, operand, dense);
  return dense;
}

// Multiplies all rows of the first operand by one matrix at once. With more matrices, multiplies all of them as one
// batch if they are equally spaced in both operands, else those of the last leading dimension.
void run_matmul(Call& call) {
  const Sizes sizes = call.output_sizes();
  const Sizes all_leading(sizes.begin(), sizes.end() - 2);
  const Tensor a = evenly_strided(call, call.input(0), all_leading),
               b = evenly_strided(call, call.input(1), all_leading);
  Product p{.columns = sizes.back(), .inner = a.size(-1)};
  p.type = a.dtype();
  auto* const result = call.output().device_pointer();
  p.a = matrix_of(a);
  p.b = matrix_of(b);
  p.result = result;
  if (p.inner == 0) return fill_zeros(call.device, result, call.output().size_bytes());
  if (b.rank() == 2 && a.contiguous()) {
    p.rows = row_count(a);
    return multiply(device_of(call.device), p);
  }
  p.rows = sizes[sizes.size() - 2];
  const std::size_t leading = sizes.size() - 2;
  std::int64_t outer = leading == 2 ? sizes[0] : 1;
  p.batch = leading == 0 ? 1 : sizes[leading - 1];
  const std::array<std::int64_t, 2> a_strides = batch_strides(a), b_strides = batch_strides(b);
  p.result_batch_stride = p.rows * p.columns;
  if (is_evenly_strided(a, p.batch) && is_evenly_strided(b, p.batch)) {
    p.batch *= outer;
    outer = 1;
  }
  p.a.batch_stride = a_strides[1];
  p.b.batch_stride = b_strides[1];
  const auto width = static_cast<std::int64_t>(info(p.type).size_bytes);
  for (std::int64_t i = 0; i < outer; ++i) {
    p.a.data = a.device_pointer() + i * a_strides[0] * width;
    p.b.data = b.device_pointer() + i * b_strides[0] * width;
    p.result = result + i * p.batch * p.result_batch_stride * width;
    multiply(device_of(call.device), p);
  }
}

std::string_view any_product(const CallSite&) { return ""; }

}  // namespace

KernelTable product_kernels() {
  KernelTable table = {
      {"fused_linear", "cuda", "cublas", any_product, run_fused_linear},
      {"linear", "cuda", "cublas", any_product, run_linear},
      {"linear_weight_gradient", "cuda", "cublas", any_product, run_linear_weight_gradient},
      {"matmul", "cuda", "cublas", at_most_two_batch_dimensions, run_matmul, Layout::matrices}};
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
