#include <algorithm>

#include "hone/cuda/convert.h"
#include "hone/cuda/copy.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/ops/rules.h"

// Gathering rows by ids (hone/cuda/source/gather.cu), views, and copies of slices.
namespace hone::cuda {
namespace {

std::string_view takes_any(const CallSite&) { return ""; }

std::string_view takes_six_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 6 ? "" : "more than 6 dimensions";
}

std::string_view takes_floats(const CallSite& site) {
  return is_value(site.outputs[0].dtype) ? "" : "the result is not f32, bf16 or f16";
}

std::string_view takes_table(const CallSite& site) {
  return site.inputs[1].dtype == site.outputs[0].dtype ? takes_floats(site)
                                                       : "operand and result have other types";
}

std::string_view takes_source(const CallSite& site) {
  return site.inputs[0].dtype == site.outputs[0].dtype ? takes_floats(site)
                                                       : "operand and result have other types";
}

std::string_view makes_float_table(const CallSite& site) {
  if (!is_value(site.inputs[1].dtype)) return "dy is not f32, bf16 or f16";
  return site.outputs[0].dtype == DType::f32 ? "" : "the gradient of the table is not f32";
}

std::string_view makes_floats(const CallSite& site) {
  return site.outputs[0].dtype == DType::f32 ? "" : "the result is not f32";
}

// ---- views: the references access no memory

void view(Call& call) { call.op.reference(call); }

void reshape(Call& call) { call.set_output(0, call.input(0).reshape(call.output_sizes())); }

// ---- copies of slices

void slice_gradient(Call& call) {
  const Tensor& dy = call.input(0);
  Tensor& dx = call.output();
  const std::int64_t axis = call.attributes.get<std::int64_t>("axis");
  const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
  if (dy.count() != dx.count()) fill_zeros(call.device, dx.device_pointer(), dx.size_bytes());
  copy_elements(call.device, dy, dx.slice(axis, begin, begin + dy.size(axis)));
}

void concat(Call& call) {
  const std::int64_t axis = call.attributes.get<std::int64_t>("axis");
  Tensor& y = call.output();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& x = call.input(i);
    copy_elements(call.device, x, y.slice(axis, begin, begin + x.size(axis)));
    begin += x.size(axis);
  }
}

// ---- rows by ids

constexpr std::int64_t kGatherWarps = 8;

void launch_gather(Call& call, const Tensor& ids, const Tensor& table, std::int64_t rows,
                   std::int64_t width) {
  const std::byte* const from = table.device_pointer();
  std::byte* const to = call.output().device_pointer();
  const std::int64_t count = ids.count();
  if (count * width == 0) return;
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(info(table.dtype()).size_bytes);
  const auto fits = [&](std::int64_t bytes) {
    const auto is_even = [=](const void* at) {
      return reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(bytes) == 0;
    };
    return row_bytes % bytes == 0 && is_even(from) && is_even(to);
  };
  const std::int64_t unit = fits(16) ? 16 : fits(4) ? 4 : 2;
  static const Program program{"gather.cu"};
  launch(call.device,
         {program,
          unit == 16  ? "gather_16"
          : unit == 4 ? "gather_4"
                      : "gather_2",
          {ceil_divide(count, kGatherWarps)},
          {32, kGatherWarps}},
         count, rows, row_bytes / unit, pointer<std::int64_t>(ids), from, to);
}

void embedding(Call& call) {
  const Tensor& table = call.input(1);
  launch_gather(call, call.input(0), table, table.size(0), table.size(1));
}

void take_rows(Call& call) {
  const Tensor& x = call.input(0);
  launch_gather(call, call.input(1), x, x.size(1), x.size(2));
}

void take_rows_gradient(Call& call) {
  const Tensor& dy = call.input(1);
  Tensor& dx = call.output();
  const std::int64_t count = call.input(0).count(), rows = dx.size(1), width = dx.size(2);
  fill_zeros(call.device, dx.device_pointer(), dx.size_bytes());
  if (count * width == 0) return;
  const Program program{"gather.cu", {value_definition(dy.dtype())}};
  launch(call.device, {program, "take_rows_gradient", {count}, {256}}, count, rows, width,
         integers(call, 0), dy.device_pointer(), dx.device_pointer());
}

// ---- the gradient of an embedding table

/// How rows are summed, and the layout of the workspace.
struct TableGradient {
  std::int64_t count, rows, width;

  // As in hone/cuda/source/gather.cu.
  static constexpr std::int64_t kSlice = 128, kChunk = 256, kSumWarps = 8;
  static constexpr std::int64_t kFewRows = 16, kRunWarps = 4;

  bool are_few() const { return rows <= kFewRows; }
  std::int64_t slices() const { return ceil_divide(width, kSlice); }

  // With few rows: the number of runs of tokens that are summed separately.
  std::int64_t runs() const {
    constexpr std::int64_t kTokensOfRun = 64, kMaxRuns = 512;
    return std::min(ceil_divide(count, kTokensOfRun), kMaxRuns);
  }
  std::int64_t tokens_of_run() const { return ceil_divide(count, runs()); }

  // With many rows: the numbers of the rows that occur; then, initialized to zero, their count, a flag per row, and a
  // bit per row and chunk of tokens.
  std::int64_t words() const { return ceil_divide(ceil_divide(count, kChunk), 32); }
  std::int64_t max_used_rows() const { return std::min(count, rows); }
  std::int64_t zero_words() const { return 1 + rows + rows * words(); }

  std::int64_t workspace_bytes() const {
    constexpr std::int64_t kWord = sizeof(std::uint32_t), kPlace = sizeof(std::int64_t);
    return are_few() ? runs() * rows * width * static_cast<std::int64_t>(sizeof(float))
                     : max_used_rows() * kPlace + zero_words() * kWord;
  }
};

std::int64_t embedding_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  return TableGradient{element_count(resolve(site.inputs[0].shape, bindings)),
                       site.attributes.get<std::int64_t>("rows"),
                       resolve(site.inputs[1].dim(-1), bindings)}
      .workspace_bytes();
}

void sum_few_rows(Call& call, const TableGradient& plan, const Program& program, bool neighbours,
                  float* table) {
  auto* const partials = static_cast<float*>(call.workspace);
  const std::int64_t runs = plan.runs(), columns = plan.rows * plan.width;
  launch(call.device,
         {program,
          neighbours ? "sum_few_rows_4" : "sum_few_rows_1",
          {ceil_divide(runs, TableGradient::kRunWarps), plan.slices()},
          {32, TableGradient::kRunWarps},
          static_cast<std::size_t>(TableGradient::kRunWarps * plan.rows * TableGradient::kSlice) *
              sizeof(float)},
         plan.count, plan.rows, plan.width, call.attributes.get<std::int64_t>("padding"),
         plan.tokens_of_run(), runs, integers(call, 0), call.input(1).device_pointer(), partials);
  static const Program sums{"columns.cu"};
  launch(call.device, {sums, "sum_partials", {ceil_divide(columns, 32)}, {32, 32}}, runs, columns,
         partials, columns, table, static_cast<float*>(nullptr));
}

void sum_used_rows(Call& call, const TableGradient& plan, const Program& program, bool neighbours,
                   float* table) {
  auto* const used_rows = static_cast<std::int64_t*>(call.workspace);
  auto* const used_row_count = reinterpret_cast<std::uint32_t*>(used_rows + plan.max_used_rows());
  std::uint32_t *const is_used = used_row_count + 1, *const marks = is_used + plan.rows;
  const std::int64_t* const ids = integers(call, 0);
  fill_zeros(call.device, table, static_cast<std::size_t>(plan.rows * plan.width) * sizeof(float));
  fill_zeros(call.device, used_row_count,
             static_cast<std::size_t>(plan.zero_words()) * sizeof(std::uint32_t));
  launch(call.device, {program, "mark_rows", {ceil_divide(plan.count, 256)}, {256}}, plan.count,
         plan.rows, call.attributes.get<std::int64_t>("padding"), plan.words(), ids, marks, is_used,
         used_row_count, used_rows);
  constexpr std::int64_t kMaxBlocks = 1024;
  launch(call.device,
         {program,
          neighbours ? "sum_used_rows_4" : "sum_used_rows_1",
          {std::min(plan.max_used_rows(), kMaxBlocks), plan.slices()},
          {32, TableGradient::kSumWarps}},
         plan.count, plan.width, plan.words(), ids, marks, used_row_count, used_rows,
         call.input(1).device_pointer(), table);
}

void embedding_gradient(Call& call) {
  const Tensor& dy = call.input(1);
  float* const table = pointer<float>(call.output());
  const TableGradient plan{call.input(0).count(), call.output().size(0), call.output().size(1)};
  if (plan.rows * plan.width == 0) return;
  if (plan.count == 0) return fill_zeros(call.device, table, call.output().size_bytes());
  const std::size_t pack_bytes = 4 * info(dy.dtype()).size_bytes;
  const bool neighbours = plan.width % 4 == 0 &&
                          reinterpret_cast<std::uintptr_t>(dy.device_pointer()) % pack_bytes == 0;
  const Program program{"gather.cu", {value_definition(dy.dtype())}};
  (plan.are_few() ? sum_few_rows : sum_used_rows)(call, plan, program, neighbours, table);
}

// ---- computed from ids

void token_positions(Call& call) {
  const Tensor& ids = call.input(0);
  const std::int64_t texts = ids.size(0), length = ids.size(1);
  std::int64_t* const y = pointer<std::int64_t>(call.output());
  if (ids.count() == 0) return;
  constexpr std::int64_t kWarps = 4;
  static const Program program{"gather.cu"};
  launch(call.device, {program, "token_positions", {ceil_divide(texts, kWarps)}, {32, kWarps}},
         texts, length, call.attributes.get<std::int64_t>("padding"), integers(call, 0), y);
}

void attention_mask(Call& call) {
  const std::int64_t count = call.input(0).count();
  float* const y = pointer<float>(call.output());
  if (count == 0) return;
  static const Program program{"gather.cu"};
  launch(call.device, {program, "attention_mask", {ceil_divide(count, 256)}, {256}}, count,
         integers(call, 0), y);
}

}  // namespace

KernelTable gather_kernels() {
  KernelTable table = {
      {"attention_mask", "cuda", "elements", makes_floats, attention_mask},
      {"concat", "cuda", "copy", takes_six_dimensions, concat, Layout::strided},
      {"embedding", "cuda", "rows", takes_table, embedding},
      {"embedding_gradient", "cuda", "rows", makes_float_table, embedding_gradient, Layout::dense,
       nullptr, embedding_gradient_workspace},
      {"reshape", "cuda", "view", takes_any, reshape},
      {"slice", "cuda", "view", takes_any, view, Layout::strided},
      {"slice_gradient", "cuda", "copy", takes_six_dimensions, slice_gradient, Layout::strided},
      {"take_rows", "cuda", "rows", takes_source, take_rows},
      {"take_rows_gradient", "cuda", "rows", takes_table, take_rows_gradient},
      {"token_positions", "cuda", "rows", takes_any, token_positions},
      {"transpose", "cuda", "view", takes_any, view, Layout::strided},
  };
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
