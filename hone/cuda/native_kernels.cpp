#include <algorithm>
#include <array>
#include <cmath>

#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/packed_plan.h"
#include "hone/cuda/products.h"
#include "hone/cuda/source/coded_rows.cuh"
#include "hone/formats/coded_rows.h"
#include "hone/runtime/native_formats.h"

// Products of codes: inputs rounded to bytes, cuBLASLt's sums of 32 bits, and what makes values of them, or codes again. Weights
// are laid out as bytes once, beside their codes.
namespace hone::cuda {
namespace {

// ---- attributes and operands, as hone/ops/packed_linear.cpp has them

constexpr std::size_t kNativeCodes = 1, kNativeBias = 3, kNativeResidual = 4;

bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }
bool rounds_output(const Attributes& attributes) {
  return attributes.find("output_format") != nullptr;
}
std::size_t first_state(const Attributes& attributes) {
  return adds_residual(attributes) ? kNativeResidual + 1 : kNativeResidual;
}
const Format& format_in(const Attributes& attributes, std::string_view name) {
  return attributes.get<Format>(name);
}

// ---- rows of codes

CodedRows coded_rows(const Format& format, const Sizes& sizes, const Tensor& memory) {
  const kernels::Int8Rows rows =
      kernels::int8_rows(coded_rows_shape(format, sizes), memory.device_pointer());
  return {rows.shape.rows, rows.shape.columns, rows.shape.stride(),
          rows.codes,      rows.scales,        rows.starts};
}

CodeGrid grid_of(const Format& format, const float* scale) {
  return {std::ldexp(1.0f, static_cast<int>(format["bits"]) - 1) - 1, scale};
}

constexpr std::int64_t kNativeThreads = 256, kRowsOfBlock = kNativeThreads / 32;  // a warp for each

Program program_of(const std::string& activation, int bits = 8) {
  return {"coded_rows.cu", {"BITS=" + std::to_string(bits), activation}};
}

std::string_view rounds_rows(const CallSite& site) {
  const Format& format = format_in(site.attributes, "format");
  if (!is_int_of_rows(format)) return "codes are not of int with a scale for each row or for all";
  return site.inputs[0].dim(-1).size <= kernels::kMostInt8Columns ? ""
                                                                  : "more columns than sums take";
}

void run_encode_rows(Call& call) {
  static const Program program = program_of("ACTIVATION=x");
  const Tensor& x = call.input(0);
  const Format& format = format_in(call.attributes, "format");
  const CodedRows rows = coded_rows(format, x.sizes(), call.output());
  if (rows.rows == 0) return;
  launch(call.device,
         {program, "encode_rows", {ceil_divide(rows.rows, kRowsOfBlock)}, {kNativeThreads}}, rows,
         grid_of(format, optional_floats(call, 1)), floats(call, 0));
}

// ---- weights

/// The weight as cuBLASLt reads it, in the card's memory: rows behind the last are zeros.
struct ByteWeight {
  PackedPlan plan;
  std::int64_t rows = 0, stride = 0;
  StoragePointer memory = {};
  std::int8_t* bytes = nullptr;
  float* scales = nullptr;  ///< of each row
  Program program = {};
};

// cuBLASLt asks for whole groups of 4; 16 let results lie well, too.
constexpr std::int64_t kRowGroup = 16;

ByteWeight byte_weight(const Call& call) {
  ByteWeight weight{.plan = packed_plan(call.attributes)};
  const PackedPlan& plan = weight.plan;
  weight.rows = ceil_divide(plan.weight.rows, kRowGroup) * kRowGroup;
  weight.stride = kernels::Int8Shape{1, plan.weight.columns, plan.weight.columns}.stride();
  weight.program =
      program_of(activation_definition(call.attributes.get<std::string>("activation")), plan.bits);
  const auto of_bytes = static_cast<std::size_t>(weight.rows * weight.stride);
  weight.memory =
      call.device.allocate(of_bytes + static_cast<std::size_t>(weight.rows) * sizeof(float));
  weight.bytes = reinterpret_cast<std::int8_t*>(weight.memory->pointer);
  weight.scales = reinterpret_cast<float*>(weight.memory->pointer + of_bytes);
  const float unit = smallest_unit(plan.units);
  WholeNumbers numbers = {};
  for (std::size_t code = 0; code < plan.units.units.size(); ++code)
    if (!std::isnan(plan.units.units[code]))
      numbers.of[code ^ static_cast<std::size_t>(plan.weight.flip)] =
          static_cast<std::int8_t>(std::lround(plan.units.units[code] / unit));
  const std::size_t states = first_state(call.attributes) +
                             (rounds_output(call.attributes)
                                  ? states_of(format_in(call.attributes, "output_format")).size()
                                  : 0);
  launch(
      call.device,
      {weight.program, "weight_bytes", {ceil_divide(weight.rows, kRowsOfBlock)}, {kNativeThreads}},
      weight_in(call, plan, kNativeCodes, states), numbers, unit, weight.rows, weight.stride,
      weight.bytes, weight.scales);
  return weight;
}

std::shared_ptr<const void> weight_once(const Call& call) {
  return std::make_shared<ByteWeight>(byte_weight(call));
}

// ---- products

// Rows of sums at a time: what is written is read again before it leaves the card's cache, of tens of MiB.
std::int64_t rows_at_once(std::int64_t rows, std::int64_t outputs) {
  constexpr std::int64_t kSums = std::int64_t{4} << 20, kLeast = 256;
  const std::int64_t padded = ceil_divide(outputs, kRowGroup) * kRowGroup;
  return std::min(rows,
                  std::max(kLeast, kSums / std::max<std::int64_t>(1, padded) / kLeast * kLeast));
}

std::string_view of_bytes(const CallSite& site) {
  const std::string_view objection = sums_of_codes(site);
  if (!objection.empty()) return objection;
  if (!is_int_of_rows(format_in(site.attributes, "input_format")))
    return "scales are of blocks, not of rows";
  const PackedPlan plan = packed_plan(site.attributes);
  if (!plan.objection.empty()) return plan.objection;
  return plan.weight.panels != 0 ? "" : "codes do not lie in panels";
}

// cuBLASLt has no kernel for up to 16 rows, so few are copied in front of others, whatever stands there.
constexpr std::int64_t kLeastRows = 32;

std::int64_t sums_bytes(std::int64_t rows, std::int64_t outputs) {
  return std::max(rows_at_once(rows, outputs), kLeastRows) * ceil_divide(outputs, kRowGroup) *
         kRowGroup * static_cast<std::int64_t>(sizeof(std::int32_t));
}

// `rows` rows of x times the weight, into the workspace; few are copied behind the sums.
void sum_rows(Call& call, const std::int8_t* x, std::int64_t rows, const ByteWeight& weight) {
  if (rows < kLeastRows) {
    auto* const copies =
        static_cast<std::byte*>(call.workspace) + sums_bytes(kLeastRows, weight.plan.weight.rows);
    call.device.copy(copies, reinterpret_cast<const std::byte*>(x),
                     static_cast<std::size_t>(rows * weight.stride));
    x = reinterpret_cast<const std::int8_t*>(copies);
    rows = kLeastRows;
  }
  multiply(device_of(call.device), {.rows = rows,
                                    .columns = weight.rows,
                                    .inner = weight.stride,
                                    .numbers = Numbers::bytes,
                                    .a = {x, weight.stride, 1},
                                    .b = {weight.bytes, 1, weight.stride},
                                    .result = call.workspace});
}

void multiply_bytes(Call& call, const ByteWeight& weight) {
  const Attributes& attributes = call.attributes;
  const PackedWeight& w = weight.plan.weight;
  Sizes sizes = call.input(0).sizes();
  sizes.back() = w.columns;
  const CodedRows x = coded_rows(format_in(attributes, "input_format"), sizes, call.input(0));
  const bool adds = adds_residual(attributes);
  CodeSums sums{.sums = static_cast<const std::int32_t*>(call.workspace),
                .stride = weight.rows,
                .weight_scales = weight.scales,
                .x_scales = x.scales,
                .bias = floats(call, kNativeBias),
                .residual = adds ? floats(call, kNativeResidual) : nullptr,
                .first = 0,
                .rows = 0,
                .columns = w.rows};
  const Tensor& y = call.output();
  const std::int64_t step = rows_at_once(x.rows, w.rows);
  for (; sums.first < x.rows; sums.first += step) {
    sums.rows = std::min(step, x.rows - sums.first);
    sum_rows(call, x.codes + sums.first * x.stride, sums.rows, weight);
    if (rounds_output(attributes)) {
      const Format& format = format_in(attributes, "output_format");
      sizes.back() = w.rows;
      launch(call.device,
             {weight.program,
              "finish_codes",
              {ceil_divide(sums.rows, kRowsOfBlock)},
              {kNativeThreads}},
             sums, coded_rows(format, sizes, y),
             grid_of(format, floats(call, first_state(attributes))));
    } else {
      const std::int64_t quads = sums.rows * ceil_divide(w.rows, 4);
      launch(
          call.device,
          {weight.program, "finish_values", {ceil_divide(quads, kNativeThreads)}, {kNativeThreads}},
          sums, pointer<float>(y));
    }
  }
}

void run_native_linear(Call& call) {
  if (call.prepared != nullptr)
    return multiply_bytes(call, *static_cast<const ByteWeight*>(call.prepared));
  multiply_bytes(call, byte_weight(call));
}

// Sums of rows of a call, and the copies of few.
std::int64_t native_bytes(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  const Sizes weight = resolve(site.attributes.get<Shape>("shape"), {});
  const std::int64_t stride = kernels::Int8Shape{1, weight[1], weight[1]}.stride();
  return std::max(sums_bytes(rows, weight[0]),
                  sums_bytes(kLeastRows, weight[0]) + kLeastRows * stride);
}

}  // namespace

KernelTable native_kernels() {
  return {{"encode_rows", "cuda", "rows", rounds_rows, run_encode_rows},
          {"native_linear", "cuda", "cublas", of_bytes, run_native_linear, Layout::dense,
           weight_once, native_bytes, PeakKind::int8_gops},
          {"native_linear_codes", "cuda", "cublas", of_bytes, run_native_linear, Layout::dense,
           weight_once, native_bytes, PeakKind::int8_gops}};
}

}  // namespace hone::cuda
