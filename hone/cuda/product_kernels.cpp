#include <algorithm>
#include <array>

#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/products.h"

// Products by cuBLASLt. Operands of fp32 that the device's arithmetic wants as halves are rounded into the workspace first;
// weights that nobody writes once for all calls.
namespace hone::cuda {
namespace {

constexpr std::int64_t kAlignment = 256;

std::int64_t rounded_up(std::int64_t bytes) { return ceil_divide(bytes, kAlignment) * kAlignment; }

// The type that operands are multiplied in.
DType operand_type(const Tensor& tensor, CudaDevice& device) {
  if (tensor.dtype() != DType::f32) return tensor.dtype();
  if (device.arithmetic() == Arithmetic::bf16) return DType::bf16;
  if (device.arithmetic() == Arithmetic::fp16) return DType::f16;
  return DType::f32;
}

/// Cuts a call's workspace into operands.
class Operands {
 public:
  explicit Operands(Call& call) : call_(call), next_(static_cast<std::byte*>(call.workspace)) {}

  // A dense tensor's elements in the type they are multiplied in.
  const void* data(const Tensor& tensor) {
    const DType type = operand_type(tensor, device_of(call_.device));
    if (type == tensor.dtype()) return tensor.device_pointer();
    std::byte* const to = next_;
    next_ += rounded_up(2 * tensor.count());
    convert(call_.device, tensor.count(), tensor.dtype(), tensor.device_pointer(), type, to);
    return to;
  }

 private:
  Call& call_;
  std::byte* next_;
};

// Two bytes for each element of the operands that might be rounded, whatever the arithmetic is.
std::int64_t operand_bytes(const CallSite& site, const Bindings& bindings) {
  std::int64_t bytes = 0;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (site.inputs[i].dtype == DType::f32)
      bytes += rounded_up(2 * element_count(resolve(site.inputs[i].shape, bindings)));
  return bytes;
}

// ---- linear

// The weight as halves where products take them.
std::shared_ptr<const void> rounded_weight(const Call& call) {
  const Tensor& weight = call.input(1);
  const DType type = operand_type(weight, device_of(call.device));
  if (type == weight.dtype()) return nullptr;
  StoragePointer rounded = call.device.allocate(static_cast<std::size_t>(2 * weight.count()));
  convert(call.device, weight.count(), weight.dtype(), weight.device_pointer(), type,
          rounded->pointer);
  return rounded;
}

Product linear_product_of(Call& call) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  Operands operands(call);
  Product p{.rows = row_count(x), .columns = weight.size(0), .inner = weight.size(1)};
  p.operands = operand_type(x, device_of(call.device));
  p.type = x.dtype();
  p.a = {operands.data(x), p.inner, 1};
  const auto* prepared = static_cast<const Storage*>(call.prepared);
  p.b = {prepared != nullptr ? prepared->pointer : operands.data(weight), 1, p.inner};
  if (call.has_input(2)) p.bias = call.input(2).device_pointer();
  p.result = call.output().device_pointer();
  return p;
}

void run_linear(Call& call) { multiply(device_of(call.device), linear_product_of(call)); }

struct ActivationProgram {
  std::string_view name;
  Following following;            // nothing: by a kernel of its own
  std::array<Program, 3> finish;  // of f32, bf16, f16
};

std::array<Program, 3> finish_by(const std::string& expression) {
  const auto of = [&](DType dtype) {
    return Program{"finish_linear.cu", {value_definition(dtype), "ACTIVATION=" + expression}};
  };
  return {of(DType::f32), of(DType::bf16), of(DType::f16)};
}

const ActivationProgram& activation_program(std::string_view name) {
  static const std::array<ActivationProgram, 5> rows = {
      {{"none", Following::nothing, finish_by("x")},
       {"relu", Following::relu, finish_by("relu(x)")},
       {"gelu", Following::nothing, finish_by("gelu_erf(x)")},
       {"gelu_tanh", Following::gelu_tanh, finish_by("gelu_tanh(x)")},
       {"tanh", Following::nothing, finish_by("std::tanh(x)")}}};
  const auto found = std::ranges::find(rows, name, &ActivationProgram::name);
  HONE_ASSERT(found != rows.end(), "no activation {}", name);
  return *found;
}

// What cuBLASLt does not do behind a product, a kernel of its own does.
void run_fused_linear(Call& call) {
  const auto& activation = call.attributes.get<std::string>("activation");
  const ActivationProgram& row = activation_program(activation);
  const void* const residual = call.has_input(3) ? call.input(3).device_pointer() : nullptr;
  Product p = linear_product_of(call);
  if (activation == "none") {
    p.earlier = residual;
    return multiply(device_of(call.device), p);
  }
  if (residual == nullptr) p.following = row.following;
  multiply(device_of(call.device), p);
  const std::int64_t count = p.rows * p.columns;
  if (p.following != Following::nothing || count == 0) return;
  const DType type = call.input(0).dtype();
  const Program& finish = row.finish[type == DType::f32 ? 0 : type == DType::bf16 ? 1 : 2];
  launch(call.device, {finish, "finish_linear", blocks_for(call.device, count, 256), {256}}, count,
         residual, p.result);
}

// dweight (N, K) = dy (T, N)^T x (T, K)
void run_linear_weight_gradient(Call& call) {
  const Tensor &x = call.input(0), &dy = call.input(1);
  Operands operands(call);
  Product p{.rows = row_length(dy), .columns = row_length(x), .inner = row_count(x)};
  p.operands = operand_type(x, device_of(call.device));
  p.a = {operands.data(dy), 1, p.rows};
  p.b = {operands.data(x), p.columns, 1};
  p.result = call.output().device_pointer();
  if (p.inner == 0) return fill_zeros(call.device, p.result, call.output().size_bytes());
  multiply(device_of(call.device), p);
}

// ---- matmul

std::string_view at_most_two_batch_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 4 ? "" : "more than 2 leading dimensions";
}

// Strides of the last two leading dimensions, 0 along those an operand is stretched over.
std::array<std::int64_t, 2> batch_strides(const Tensor& operand) {
  std::array<std::int64_t, 2> strides{};
  const std::int64_t leading = operand.rank() - 2;
  for (std::int64_t i = 0; i < leading; ++i)
    if (operand.size(i) != 1)
      strides[static_cast<std::size_t>(2 - leading + i)] =
          operand.strides()[static_cast<std::size_t>(i)];
  return strides;
}

Matrix matrix_of(const Tensor& tensor, const void* data) {
  const std::size_t last = tensor.strides().size() - 1;
  return {data, tensor.strides()[last - 1], tensor.strides()[last]};
}

// Rows of the first operand times one matrix; else products for each pair of leading indices, those of the last
// leading dimension at once, or of both where they lie in one row of strides.
void run_matmul(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Sizes sizes = call.output_sizes();
  Operands operands(call);
  Product p{.columns = sizes.back(), .inner = a.size(-1)};
  // What is rounded is dense.
  const bool both_dense = a.contiguous() && b.contiguous();
  p.operands = both_dense ? operand_type(a, device_of(call.device)) : a.dtype();
  p.type = a.dtype();
  const void* const a_data = both_dense ? operands.data(a) : a.device_pointer();
  const void* const b_data = both_dense ? operands.data(b) : b.device_pointer();
  auto* const result = call.output().device_pointer();
  p.a = matrix_of(a, a_data);
  p.b = matrix_of(b, b_data);
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
  std::array<std::int64_t, 2> a_strides = batch_strides(a), b_strides = batch_strides(b);
  p.result_batch_stride = p.rows * p.columns;
  if (a_strides[0] == a_strides[1] * p.batch && b_strides[0] == b_strides[1] * p.batch) {
    p.batch *= outer;
    outer = 1;
  }
  p.a.batch_stride = a_strides[1];
  p.b.batch_stride = b_strides[1];
  const auto width = static_cast<std::int64_t>(info(p.operands).size_bytes),
             result_width = static_cast<std::int64_t>(info(p.type).size_bytes);
  for (std::int64_t i = 0; i < outer; ++i) {
    p.a.data = static_cast<const std::byte*>(a_data) + i * a_strides[0] * width;
    p.b.data = static_cast<const std::byte*>(b_data) + i * b_strides[0] * width;
    p.result = result + i * p.batch * p.result_batch_stride * result_width;
    multiply(device_of(call.device), p);
  }
}

std::string_view any_product(const CallSite&) { return ""; }

}  // namespace

KernelTable product_kernels() {
  return {{"fused_linear", "cuda", "cublas", any_product, run_fused_linear, Layout::dense,
           rounded_weight, operand_bytes},
          {"linear", "cuda", "cublas", any_product, run_linear, Layout::dense, rounded_weight,
           operand_bytes},
          {"linear_weight_gradient", "cuda", "cublas", any_product, run_linear_weight_gradient,
           Layout::dense, nullptr, operand_bytes},
          {"matmul", "cuda", "cublas", at_most_two_batch_dimensions, run_matmul, Layout::matrices,
           nullptr, operand_bytes}};
}

}  // namespace hone::cuda
