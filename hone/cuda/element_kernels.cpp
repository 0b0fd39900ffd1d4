#include <algorithm>
#include <bit>
#include <string>

#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/kernels/loop_nest.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Element-wise operations: each row names the expression that the kernel of element.cu computes. The functions in
// expressions are defined in hone/kernels/scalar/activation.h. Values are fp32, bf16 or fp16; arithmetic is fp32.
namespace hone::cuda {
namespace {

constexpr std::int64_t kElementThreads = 128;

std::string_view of_values(const CallSite& site) {
  return is_value(site.inputs[0].dtype) && site.outputs[0].dtype == site.inputs[0].dtype
             ? ""
             : "values are not f32, bf16 or f16";
}

std::string_view of_values_of_one_type(const CallSite& site) {
  if (site.inputs[1].dtype != site.inputs[0].dtype) return "operands are of several types";
  return of_values(site);
}

std::string_view of_values_to_broadcast(const CallSite& site) {
  if (site.outputs[0].rank() > kernels::kMaxRank) return "more than 6 dimensions";
  return of_values_of_one_type(site);
}

// ---- programs

/// An expression as a template argument.
template <std::size_t kSize>
struct Expression {
  char text[kSize];
  consteval Expression(const char (&from)[kSize]) { std::ranges::copy(from, text); }
};

/// One program for each type of values.
struct ElementPrograms {
  Program of_float, of_bfloat16, of_float16;

  /// `second`: the second operand's type; "" if there is none.
  ElementPrograms(const std::string& expression, const std::string& second)
      : of_float(program(expression, second, DType::f32)),
        of_bfloat16(program(expression, second, DType::bf16)),
        of_float16(program(expression, second, DType::f16)) {}

  const Program& of(DType dtype) const {
    return dtype == DType::f32 ? of_float : dtype == DType::bf16 ? of_bfloat16 : of_float16;
  }

 private:
  static Program program(const std::string& expression, const std::string& second, DType dtype) {
    Program program{"element.cu", {"EXPRESSION=" + expression, value_definition(dtype)}};
    if (!second.empty()) program.definitions.push_back("SECOND=" + second);
    return program;
  }
};

// ---- dense operands of one shape

/// Operands of an expression besides x: `y` and `number`.
struct ExtraOperands {
  const Tensor* y = nullptr;
  float number = 0;
  const float* number_at = nullptr;  ///< in GPU memory
};

bool is_aligned(const void* pointer, std::int64_t bytes) {
  return std::bit_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(bytes) == 0;
}

std::int64_t element_bytes(const Tensor& tensor) {
  return static_cast<std::int64_t>(info(tensor.dtype()).size_bytes);
}

void run_dense(Call& call, const Program& program, const ExtraOperands& extra) {
  const Tensor& x = call.input(0);
  const std::int64_t count = x.count(), pack = 16 / element_bytes(x);
  const void* const x_at = x.device_pointer();
  const void* const y_at = extra.y ? extra.y->device_pointer() : nullptr;
  const std::int64_t y_bytes = extra.y ? pack * element_bytes(*extra.y) : 1;
  void* const to = call.output().device_pointer();
  if (count == 0) return;
  const bool aligned = is_aligned(x_at, 16) && is_aligned(to, 16) && is_aligned(y_at, y_bytes);
  constexpr std::int64_t kRounds = 2;  // as in element.cu
  const std::int64_t per_block = kElementThreads * kRounds * (aligned ? pack : 1);
  launch(call.device,
         {program,
          aligned ? "dense" : "dense_unaligned",
          {ceil_divide(count, per_block)},
          {kElementThreads}},
         x_at, y_at, extra.number_at, extra.number, to, count);
}

template <Expression kExpression>
void unary(Call& call, const ExtraOperands& extra) {
  static const ElementPrograms programs(kExpression.text, "");
  run_dense(call, programs.of(call.input(0).dtype()), extra);
}
template <Expression kExpression>
void unary(Call& call) {
  unary<kExpression>(call, {});
}

template <Expression kExpression>
void binary(Call& call, const ExtraOperands& extra) {
  static const ElementPrograms programs(kExpression.text, "VALUE");
  run_dense(call, programs.of(call.input(0).dtype()), extra);
}
template <Expression kExpression>
void binary(Call& call) {
  binary<kExpression>(call, {.y = &call.input(1)});
}

// ---- strided operands, broadcast to one shape

// Returns whether `pack` adjacent results come from as many adjacent, aligned elements of the operand, or from a single
// one.
bool has_packs(const kernels::LoopNest<2>& nest, std::size_t operand, const void* at,
               std::int64_t pack) {
  const auto& strides = nest.strides[operand];
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  if (strides[inner] == 0) return true;
  return strides[inner] == 1 && is_aligned(at, 16) &&
         std::all_of(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(inner),
                     [pack](std::int64_t stride) { return stride % pack == 0; });
}

void run_broadcast(Call& call, const Program& program) {
  const Tensor &x = call.input(0), &y = call.input(1);
  const Sizes sizes = call.output_sizes();
  if (x.contiguous() && y.contiguous() && x.sizes() == sizes && y.sizes() == sizes)
    return run_dense(call, program, {.y = &y});
  const Sizes x_strides = reference::broadcast_strides(x, sizes),
              y_strides = reference::broadcast_strides(y, sizes);
  const kernels::LoopNest<2> nest(sizes, {x_strides, y_strides});
  const std::int64_t count = nest.elements(), pack = 16 / element_bytes(x);
  const void *const x_at = x.device_pointer(), *const y_at = y.device_pointer();
  void* const to = call.output().device_pointer();
  if (count == 0) return;
  const bool aligned = nest.inner_size() % pack == 0 && is_aligned(to, 16) &&
                       has_packs(nest, 0, x_at, pack) && has_packs(nest, 1, y_at, pack);
  const std::int64_t packs = aligned ? count / pack : count;
  launch(call.device,
         {program,
          aligned ? "broadcast" : "broadcast_unaligned",
          {ceil_divide(packs, kElementThreads)},
          {kElementThreads}},
         nest, x_at, y_at, to, packs);
}

template <Expression kExpression>
void broadcast_binary(Call& call) {
  static const ElementPrograms programs(kExpression.text, "VALUE");
  run_broadcast(call, programs.of(call.input(0).dtype()));
}

// ---- operations with further arguments

void scale_by_factor(Call& call) {
  unary<"x * number">(call, {.number = static_cast<float>(call.attributes.get<double>("factor"))});
}

bool gelu_by_tanh(const Call& call) {
  return call.attributes.get<std::string>("approximate") == "tanh";
}
void run_gelu(Call& call) {
  gelu_by_tanh(call) ? unary<"gelu_tanh(x)">(call) : unary<"gelu_erf(x)">(call);
}
void run_gelu_gradient(Call& call) {
  gelu_by_tanh(call) ? binary<"gelu_tanh_gradient(x, y)">(call)
                     : binary<"gelu_erf_gradient(x, y)">(call);
}

void run_mask(Call& call) {
  static const ElementPrograms programs("mask(x, y != 0)", "bool");
  run_dense(call, programs.of(call.input(0).dtype()), {.y = &call.input(1)});
}

void run_threshold(Call& call) {
  unary<"threshold(x, number)">(call, {.number_at = floats(call, 1)});
}
void run_threshold_gradient(Call& call) {
  binary<"threshold_gradient(x, y, number)">(call,
                                             {.y = &call.input(1), .number_at = floats(call, 2)});
}

// ---- filling and converting

template <typename Word>
void fill_words(Call& call, const Program& program, Word word) {
  Tensor& y = call.output();
  constexpr std::int64_t kThreads = 256, kPack = 16 / static_cast<std::int64_t>(sizeof(Word));
  const std::int64_t count = y.count();
  if (count == 0) return;
  launch(call.device,
         {program, "fill", {ceil_divide(ceil_divide(count, kPack), kThreads)}, {kThreads}},
         y.device_pointer(), word, count);
}

void run_full(Call& call) {
  static const Program of_16_bits{"fill.cu", {"WORD=std::uint16_t"}},
      of_32_bits{"fill.cu", {"WORD=std::uint32_t"}}, of_64_bits{"fill.cu", {"WORD=std::uint64_t"}};
  const double value = call.attributes.get<double>("value");
  const float rounded = static_cast<float>(value);
  switch (call.types[0].dtype) {
    case DType::f32:
      return fill_words(call, of_32_bits, std::bit_cast<std::uint32_t>(rounded));
    case DType::bf16:
      return fill_words(call, of_16_bits, to_bfloat16(rounded).bits);
    case DType::f16:
      return fill_words(call, of_16_bits, to_half(rounded).bits);
    default:
      return fill_words(call, of_64_bits,
                        static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
}

std::string_view of_values_or_integers(const CallSite& site) {
  const DType dtype = site.outputs[0].dtype;
  return is_value(dtype) || dtype == DType::i64 ? "" : "the result is not f32, bf16, f16 or i64";
}

std::string_view of_values_to_others(const CallSite& site) {
  return is_value(site.inputs[0].dtype) && is_value(site.outputs[0].dtype)
             ? ""
             : "x or the result is not f32, bf16 or f16";
}

void run_cast(Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& y = call.output();
  convert(call.device, x.count(), x.dtype(), x.device_pointer(), y.dtype(), y.device_pointer());
}

}  // namespace

KernelTable element_kernels() {
  KernelTable table = {
      {"add", "cuda", "vector", of_values_to_broadcast, broadcast_binary<"x + y">, Layout::strided},
      {"cast", "cuda", "vector", of_values_to_others, run_cast},
      {"full", "cuda", "vector", of_values_or_integers, run_full, Layout::strided},
      {"gelu", "cuda", "vector", of_values, run_gelu},
      {"gelu_gradient", "cuda", "vector", of_values_of_one_type, run_gelu_gradient},
      {"mask", "cuda", "vector", of_values, run_mask},
      {"mul", "cuda", "vector", of_values_to_broadcast, broadcast_binary<"x * y">, Layout::strided},
      {"relu", "cuda", "vector", of_values, unary<"relu(x)">},
      {"relu_gradient", "cuda", "vector", of_values_of_one_type, binary<"relu_gradient(x, y)">},
      {"scale", "cuda", "vector", of_values, scale_by_factor},
      {"tanh", "cuda", "vector", of_values, unary<"std::tanh(x)">},
      {"tanh_gradient", "cuda", "vector", of_values_of_one_type, binary<"tanh_gradient(x, y)">},
      {"threshold", "cuda", "vector", of_values, run_threshold},
      {"threshold_gradient", "cuda", "vector", of_values_of_one_type, run_threshold_gradient},
  };
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
