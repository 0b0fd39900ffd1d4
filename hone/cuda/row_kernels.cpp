#include <algorithm>

#include "hone/cuda/coded_rows.h"
#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/ops/rules.h"
#include "hone/runtime/native_formats.h"

// Operations on rows: hone/cuda/source/rows.cu for rows that fit into the registers of a warp, wide_rows.cu for longer
// ones. Values are fp32, bf16 or fp16; gamma, beta and their gradients are fp32.
namespace hone::cuda {
namespace {

std::string_view takes_rows(const CallSite& site) {
  const DType dtype = site.inputs[0].dtype;
  return is_value(dtype) && site.outputs[0].dtype == dtype ? "" : "x is not f32, bf16 or f16";
}

std::string_view takes_rows_and_gains(const CallSite& site) {
  return site.inputs[1].dtype == DType::f32 ? takes_rows(site) : "gamma is not f32";
}

constexpr std::int64_t kLongestRow = 1024;  // fits into the registers of a warp

std::string_view takes_rows_for_codes(const CallSite& site) {
  if (!is_int_of_rows(site.attributes.get<Format>("format")))
    return "codes are not int codes with one scale per row or for all rows";
  if (site.inputs[0].dim(-1).size > kLongestRow) return "rows of more than 1,024 columns";
  return takes_rows_and_gains(site);
}

/// How kernels iterate over rows of one length.
struct RowPlan {
  bool is_wide;
  Program program;
  std::int64_t rows, length;

  // `floats` are fp32 operands that are read along with the values.
  RowPlan(const Tensor& x, std::initializer_list<const void*> values,
          std::initializer_list<const void*> floats = {})
      : rows(row_count(x)), length(row_length(x)) {
    constexpr std::int64_t kLanes = 32;
    const std::string type = value_definition(x.dtype());
    is_wide = length > kLongestRow;
    program = {"wide_rows.cu", {type}};
    if (is_wide) return;
    const auto size_bytes = static_cast<std::int64_t>(info(x.dtype()).size_bytes);
    std::int64_t width = 16 / size_bytes;
    const auto is_aligned = [&](std::int64_t bytes) {
      return [=](const void* at) {
        return reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(bytes) == 0;
      };
    };
    if (length % width != 0 || !std::ranges::all_of(values, is_aligned(width * size_bytes)) ||
        !std::ranges::all_of(floats, is_aligned(width * 4)))
      width = 1;
    // A few sizes keep the number of programs small.
    std::int64_t packs = 1;
    for (const std::int64_t next : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      packs = next;
      if (packs * kLanes * width >= length) break;
    }
    program = {"rows.cu", {type, fmt::format("WIDTH={}", width), fmt::format("PACKS={}", packs)}};
  }
  int short_length() const { return static_cast<int>(length); }
};

// Few rows are spread over the whole GPU.
std::int64_t warps_per_block(std::int64_t rows) { return rows < 1024 ? 1 : 4; }

// Returns the number of threads that a wide row keeps busy.
std::int64_t wide_threads(std::int64_t length) { return length < 4096 ? 256 : 512; }

// Launches a kernel that processes each row separately. `arguments` follow the number and the length of rows.
template <typename... Arguments>
void launch_rows(Device& device, const RowPlan& plan, const char* function,
                 const Arguments&... arguments) {
  if (plan.rows == 0) return;
  if (plan.is_wide) {
    launch(device, {plan.program, function, {plan.rows}, {wide_threads(plan.length)}}, plan.length,
           arguments...);
  } else {
    const std::int64_t warps = warps_per_block(plan.rows);
    launch(device, {plan.program, function, {ceil_divide(plan.rows, warps)}, {32, warps}},
           plan.rows, plan.short_length(), arguments...);
  }
}

void softmax(Call& call) {
  const std::byte* const x = call.input(0).device_pointer();
  std::byte* const y = call.output().device_pointer();
  launch_rows(call.device, RowPlan(call.input(0), {x, y}), "softmax", x, y);
}

void softmax_gradient(Call& call) {
  const std::byte *const y = call.input(0).device_pointer(), *const dy =
                                                                 call.input(1).device_pointer();
  std::byte* const dx = call.output().device_pointer();
  launch_rows(call.device, RowPlan(call.input(0), {y, dy, dx}), "softmax_gradient", y, dy, dx);
}

float norm_epsilon(const Call& call) {
  return static_cast<float>(call.attributes.get<double>("eps"));
}

void layer_norm(Call& call) {
  const std::byte* const x = call.input(0).device_pointer();
  const float *const gamma = floats(call, 1), *const beta = floats(call, 2);
  std::byte* const y = call.output().device_pointer();
  launch_rows(call.device, RowPlan(call.input(0), {x, y}, {gamma, beta}), "layer_norm", x, gamma,
              beta, norm_epsilon(call), y);
}

void layer_norm_codes(Call& call) {
  const std::byte* const x = call.input(0).device_pointer();
  const float *const gamma = floats(call, 1), *const beta = floats(call, 2);
  const Format& format = call.attributes.get<Format>("format");
  std::byte* const y = call.output().device_pointer();
  launch_rows(call.device, RowPlan(call.input(0), {x, y}, {gamma, beta}), "layer_norm_codes", x,
              gamma, beta, norm_epsilon(call), y,
              coded_rows(format, call.input(0).sizes(), call.output(1)),
              code_grid(format, optional_floats(call, 3)));
}

// Returns how many blocks compute partial sums of dgamma and dbeta. It depends on the shape alone.
std::int64_t blocks_of_partials(std::int64_t rows) {
  constexpr std::int64_t kRowsOfBlock = 16, kMaxBlocks = 264;
  return std::min(ceil_divide(rows, kRowsOfBlock), kMaxBlocks);
}

std::int64_t layer_norm_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  const std::int64_t rows = x.back() == 0 ? 0 : element_count(x) / x.back();
  return blocks_of_partials(rows) * 2 * x.back() * static_cast<std::int64_t>(sizeof(float));
}

void layer_norm_gradient(Call& call) {
  const std::byte *const x = call.input(0).device_pointer(), *const dy =
                                                                 call.input(2).device_pointer();
  const float* const gamma = floats(call, 1);
  std::byte* const dx = call.output().device_pointer();
  float *const dgamma = pointer<float>(call.output(1)), *const dbeta =
                                                            pointer<float>(call.output(2));
  const RowPlan plan(call.input(0), {x, dy, dx}, {gamma});
  if (plan.length == 0) return;
  const std::int64_t blocks = blocks_of_partials(plan.rows), columns = 2 * plan.length;
  auto* const partials = static_cast<float*>(call.workspace);
  const float eps = norm_epsilon(call);
  if (plan.rows > 0 && plan.is_wide) {
    launch(call.device,
           {plan.program, "layer_norm_gradient", {blocks}, {wide_threads(plan.length)}}, plan.rows,
           plan.length, x, gamma, eps, dy, dx, partials);
  } else if (plan.rows > 0) {
    launch(call.device, {plan.program, "layer_norm_gradient", {blocks}, {32, 4}}, plan.rows,
           plan.short_length(), x, gamma, eps, dy, dx, partials);
  }
  const Program sums{"columns.cu"};
  launch(call.device, {sums, "sum_partials", {ceil_divide(columns, 32)}, {32, 32}}, blocks, columns,
         partials, plan.length, dgamma, dbeta);
}

// ---- embeddings: pooling tokens, normalizing to length 1

void launch_norm(Call& call, const char* function, const std::vector<const std::byte*>& inputs) {
  const std::int64_t rows = row_count(call.input(0)), length = row_length(call.input(0));
  const double eps = call.attributes.get<double>("eps");
  std::byte* const to = call.output().device_pointer();
  if (rows == 0) return;
  const Program program{"embeddings.cu", {value_definition(call.input(0).dtype())}};
  const std::int64_t warps = warps_per_block(rows);
  const Launch start{program, function, {ceil_divide(rows, warps)}, {32, warps}};
  if (inputs.size() == 1) {
    launch(call.device, start, rows, length, eps, inputs[0], to);
  } else {
    launch(call.device, start, rows, length, eps, inputs[0], inputs[1], to);
  }
}

void normalize(Call& call) { launch_norm(call, "normalize", {call.input(0).device_pointer()}); }

void normalize_gradient(Call& call) {
  launch_norm(call, "normalize_gradient",
              {call.input(0).device_pointer(), call.input(1).device_pointer()});
}

// Returns the number of the mode in hone/cuda/source/embeddings.cu.
int pooling_mode(const Call& call) {
  const auto& mode = call.attributes.get<std::string>("mode");
  return mode == "mean" ? 0 : mode == "mean_sqrt_len" ? 1 : 2;
}

// x is (texts, tokens, features). `arguments` follow the mask.
template <typename... Arguments>
void launch_pooling(Call& call, const char* function, const Arguments&... arguments) {
  const Tensor& x = call.input(0);
  const std::int64_t texts = x.size(0), tokens = x.size(1), width = x.size(2);
  if (texts * width == 0) return;
  constexpr std::int64_t kThreads = 128;
  const Program program{"embeddings.cu", {value_definition(x.dtype())}};
  const std::byte* const from = x.device_pointer();
  launch(call.device, {program, function, {ceil_divide(texts * width, kThreads)}, {kThreads}},
         texts, tokens, width, pooling_mode(call), from, integers(call, 1), arguments...);
}

void pool_tokens(Call& call) {
  launch_pooling(call, "pool_tokens", call.output().device_pointer());
}

void pool_tokens_gradient(Call& call) {
  const std::byte* const dy = call.input(2).device_pointer();
  launch_pooling(call, "pool_tokens_gradient", dy, call.output().device_pointer());
}

}  // namespace

KernelTable row_kernels() {
  KernelTable table = {
      {"layer_norm", "cuda", "rows", takes_rows_and_gains, layer_norm},
      {"layer_norm_codes", "cuda", "rows", takes_rows_for_codes, layer_norm_codes},
      {"layer_norm_gradient", "cuda", "rows", takes_rows_and_gains, layer_norm_gradient,
       Layout::dense, nullptr, layer_norm_gradient_workspace},
      {"normalize", "cuda", "rows", takes_rows, normalize},
      {"normalize_gradient", "cuda", "rows", takes_rows, normalize_gradient},
      {"pool_tokens", "cuda", "rows", takes_rows, pool_tokens},
      {"pool_tokens_gradient", "cuda", "rows", takes_rows, pool_tokens_gradient},
      {"softmax", "cuda", "rows", takes_rows, softmax},
      {"softmax_gradient", "cuda", "rows", takes_rows, softmax_gradient},
  };
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
