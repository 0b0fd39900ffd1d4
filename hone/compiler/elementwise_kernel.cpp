#include "hone/compiler/elementwise_kernel.h"

#include <algorithm>
#include <array>

#include "hone/compiler/generated_code.h"
#include "hone/compiler/machine_code.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/loop_nest.h"
#include "hone/ops/reference.h"

namespace hone::compiler {
namespace {

constexpr std::size_t kMaxOperands = 16, kMaxResults = 16;

using Nest = kernels::LoopNest<static_cast<int>(kMaxOperands)>;
using Pointers = std::array<const std::byte*, kMaxOperands>;

std::string_view accepts(const CallSite& site) {
  if (!code_generation_missing().empty()) return "code cannot be generated here";
  if (site.inputs.size() > kMaxOperands) return "more than 16 operands";
  if (site.outputs.size() > kMaxResults) return "more than 16 results";
  if (site.outputs[0].rank() > kernels::kMaxRank) return "more than 6 dimensions";
  for (const Type& type : site.inputs)
    if (type.dtype != DType::f32 && type.dtype != DType::boolean)
      return "an operand is neither f32 nor bool";
  return site.outputs[0].dtype == DType::f32 ? "" : "the result is not f32";
}

std::int64_t element_bytes(const Tensor& tensor) {
  return static_cast<std::int64_t>(info(tensor.dtype()).size_bytes);
}

/// The operands of a call, and the loops over them.
struct Operands {
  Pointers pointers{};
  std::array<std::int64_t, kMaxOperands> bytes{};  // per element
  Nest nest;

  // Missing operands have stride 0, so they do not prevent merging dimensions.
  Operands(const Call& call, const Sizes& sizes) : nest(nest_of(call, sizes)) {
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      pointers[i] = static_cast<const std::byte*>(call.input(i).device_pointer());
      bytes[i] = element_bytes(call.input(i));
    }
  }

 private:
  static Nest nest_of(const Call& call, const Sizes& sizes) {
    const Sizes none(sizes.size(), 0);
    std::array<Sizes, kMaxOperands> strides;
    std::array<std::span<const std::int64_t>, kMaxOperands> all;
    all.fill(none);
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      strides[i] = reference::broadcast_strides(call.input(i), sizes);
      all[i] = strides[i];
    }
    return {sizes, all};
  }
};

OperandKind kind_along(const Call& call, const Nest& nest, std::size_t operand) {
  const bool repeated = nest.inner_stride(static_cast<int>(operand)) == 0;
  if (call.input(operand).dtype() == DType::boolean)
    return repeated ? OperandKind::repeated_truth : OperandKind::truths;
  return repeated ? OperandKind::repeated_value : OperandKind::values;
}

/// Rows that generated code can walk: `columns` elements each, with a fixed distance between rows for each operand.
struct Rows {
  std::int64_t count = 0, columns = 1;
  Nest nest;  // over rows only
};

// If the code was generated for another layout of operands, as when a length happens to be 1, a row is one element,
// which any layout addresses alike.
Rows rows_of(const Nest& nest, bool one_by_one) {
  Rows rows{1, nest.inner_size(), nest};
  if (one_by_one) {
    rows.columns = 1;
  } else if (nest.rank > 1) {
    --rows.nest.rank;
  } else {
    rows.nest.sizes[0] = 1;
  }
  rows.count = rows.nest.elements();
  return rows;
}

// Splits a single row by columns.
void run_row(ThreadPool& pool, const GeneratedCode& code, const Operands& operands,
             std::int64_t columns, std::span<float* const> results) {
  parallel_ranges(
      pool, columns, kernels::kChunkElements, [&](std::int64_t begin, std::int64_t end) {
        std::array<const void*, kMaxOperands> from{};
        std::array<float*, kMaxResults> to{};
        constexpr std::array<std::int64_t, kMaxOperands> kNoRows{};
        for (std::size_t i = 0; i < code.operands.size(); ++i)
          from[i] = operands.pointers[i] +
                    begin * operands.nest.inner_stride(static_cast<int>(i)) * operands.bytes[i];
        for (std::size_t i = 0; i < results.size(); ++i) to[i] = results[i] + begin;
        code.function(from.data(), to.data(), kNoRows.data(), 1, end - begin);
      });
}

void run_rows(ThreadPool& pool, const GeneratedCode& code, const Operands& operands,
              const Rows& rows, std::span<float* const> results) {
  std::array<std::int64_t, kMaxOperands> row_bytes{};
  for (std::size_t i = 0; i < kMaxOperands; ++i)
    row_bytes[i] = rows.nest.inner_stride(static_cast<int>(i)) * operands.bytes[i];
  const std::int64_t grain = kernels::rows_per_chunk(rows.columns);
  parallel_ranges(pool, rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
    rows.nest.for_runs(begin, end, [&](std::int64_t row, std::int64_t count, const auto& offsets) {
      std::array<const void*, kMaxOperands> from{};
      std::array<float*, kMaxResults> to{};
      for (std::size_t i = 0; i < code.operands.size(); ++i)
        from[i] = operands.pointers[i] + offsets[i] * operands.bytes[i];
      for (std::size_t i = 0; i < results.size(); ++i) to[i] = results[i] + row * rows.columns;
      code.function(from.data(), to.data(), row_bytes.data(), count, rows.columns);
    });
  });
}

void run(Call& call) {
  const Sizes sizes = call.output_sizes();
  const Operands operands(call, sizes);
  std::array<float*, kMaxResults> results{};
  for (std::size_t i = 0; i < call.outputs.size(); ++i) results[i] = call.output(i).data<float>();
  if (element_count(sizes) == 0) return;
  std::array<OperandKind, kMaxOperands> kind_of{};
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    kind_of[i] = kind_along(call, operands.nest, i);
  const std::span<const OperandKind> kinds = std::span(kind_of).first(call.inputs.size());
  const std::string& formulas = call.attributes.get<std::string>("formula");
  const GeneratedCode* known = known_code(formulas, kinds);
  const GeneratedCode& code = known != nullptr ? *known : code_of(formulas, kinds);
  const Rows rows = rows_of(operands.nest, !std::ranges::equal(code.operands, kinds));
  const std::span<float* const> to(results.data(), call.outputs.size());
  if (rows.count == 1) return run_row(call.pool(), code, operands, rows.columns, to);
  run_rows(call.pool(), code, operands, rows, to);
}

}  // namespace

Kernel elementwise_kernel() { return {"elementwise", "cpu", "generated", accepts, run}; }

}  // namespace hone::compiler
