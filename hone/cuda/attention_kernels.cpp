#include <algorithm>
#include <cmath>
#include <string>

#include "hone/cuda/attention_half.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/source/attention_call.cuh"
#include "hone/cuda/tensor_core_attention.h"

// Attention and its gradient; operands and results have one type. hone/cuda/source/attention.cu and
// attention_gradient.cu support all types, attention_half.cu bf16 and fp16, and attention_tensor_core.cu both on Hopper
// GPUs. Programs are compiled for head sizes rounded up to multiples of 32, and for blocks that suit the number of
// tokens. Only the GPU knows the lengths of texts stored back to back; the host plans with their average.
namespace hone::cuda {
namespace {

constexpr std::int64_t kLargestHead = 256, kMaxWarps = 4, kFloatBytes = sizeof(float);

// ---- arguments

AttentionHeads attention_heads(const Tensor& x) {
  const auto stride = [&](std::size_t d) { return x.sizes()[d] == 1 ? 0 : x.strides()[d]; };
  return {x.device_pointer(), stride(0), stride(2), stride(1)};
}

// Returns whether the tensor can be read and written in packs of four elements.
bool is_packed(const Tensor& x) {
  const AttentionHeads heads = attention_heads(x);
  const std::size_t pack = 4 * info(x.dtype()).size_bytes;
  const std::int64_t strides = heads.text_stride | heads.head_stride | heads.token_stride;
  return reinterpret_cast<std::uintptr_t>(heads.data) % pack == 0 && strides % 4 == 0 &&
         x.size(3) % 4 == 0;
}

void set_dropout(const Call& call, std::size_t key, AttentionCall& c) {
  const Sizes weights = {c.texts, c.heads, c.queries, c.keys};
  const Shape& limits = call.attributes.get<Shape>("limits");
  const Sizes largest = limits.empty() ? weights : resolve(limits, call.bindings);
  // Only the GPU knows the lengths of texts stored back to back.
  if (c.begins == nullptr)
    user_check(std::ranges::equal(weights, largest, std::less_equal<>()),
               "weights {} are larger than their limits {}", hone::to_string(weights),
               hone::to_string(largest));
  const Sizes words = contiguous_strides(largest);
  std::copy_n(words.begin(), 3, c.word_strides);
  const double p = call.attributes.get<double>("p");
  c.random_key = integers(call, key);
  c.stream = static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"));
  c.threshold =
      static_cast<std::uint32_t>(std::min<std::int64_t>(std::llround(p * 0x1p32), 0xffffffff));
  c.factor = p < 1 ? static_cast<float>(1 / (1 - p)) : 0;
}

bool is_unpadded(const Tensor& query, const Tensor& key) {
  return query.size(0) == 1 && query.size(1) == key.size(1);
}

// Returns the arguments except dy and the results. Input `operands` is the random key.
AttentionCall attention_call(const Call& call, std::size_t operands) {
  const Tensor &q = call.input(0), &k = call.input(1), &v = call.input(2);
  AttentionCall c{};
  c.query = attention_heads(q);
  c.key = attention_heads(k);
  c.value = attention_heads(v);
  c.texts = q.size(0);
  c.heads = q.size(2);
  c.queries = q.size(1);
  c.keys = k.size(1);
  c.head_size = static_cast<std::int32_t>(q.size(3));
  c.value_size = static_cast<std::int32_t>(v.size(3));
  c.scale = static_cast<float>(call.attributes.get<double>("scale"));
  c.packed = is_packed(q) && is_packed(k) && is_packed(v);
  const bool drops = call.attributes.get<double>("p") > 0;
  const std::size_t texts_at = drops ? operands + 1 : operands;
  if (call.attributes.get<bool>("unpadded")) {
    c.begins = integers(call, texts_at);
    c.lengths = integers(call, texts_at + 1);
    c.texts = call.input(texts_at).count();
    c.query_runs = is_unpadded(q, k);
  } else if (call.has_input(texts_at)) {
    const Tensor& mask = call.input(texts_at);
    c.mask = pointer<float>(mask);
    c.mask_stride = mask.size(0) > 1 ? mask.strides()[0] : 0;
  }
  if (drops) set_dropout(call, operands, c);
  return c;
}

// ---- tiling

// The tiling of one kernel: a block owns rows and iterates over tiles of columns.
struct AttentionTiles {
  std::int64_t head, value;  // elements, multiples of 32
  std::int64_t columns;      // of a tile
  std::int64_t rows;         // per lane
  std::int64_t warps;
  std::int64_t column_rows;  // columns with shared memory
  std::int64_t operands;     // whose rows a block keeps in shared memory: 1 or 2

  std::int64_t block_rows() const { return 4 * rows * warps; }
  std::int64_t shared_bytes() const {
    const std::int64_t head_row = head + 4, value_row = value + 4, weights_row = columns + 8;
    const std::int64_t own = (operands == 1 ? head_row : head_row + value_row) + weights_row;
    return kFloatBytes * (block_rows() * own + column_rows * (head_row + value_row));
  }
};

// Numbers of `rows` and `columns`: of each text, or of all texts if these are stored back to back (runs).
struct AttentionExtent {
  std::int64_t rows, columns;
  bool row_runs, column_runs;
};

std::int64_t usual_rows(const AttentionExtent& extent, std::int64_t texts) {
  return extent.row_runs ? ceil_divide(extent.rows, std::max<std::int64_t>(texts, 1)) : extent.rows;
}

AttentionTiles attention_tiles(const AttentionCall& c, const AttentionExtent& extent,
                               std::int64_t operands, const GpuInfo& gpu) {
  AttentionTiles tiles{};
  tiles.head = 32 * ceil_divide(std::max(c.head_size, 1), 32);
  tiles.value = 32 * ceil_divide(std::max(c.value_size, 1), 32);
  // The column tile determines the order of sums, so it depends on the head sizes alone, not on the number of tokens.
  const std::int64_t largest = std::max(tiles.head, tiles.value);
  tiles.columns = largest <= 64 ? 64 : 32;
  tiles.operands = operands;
  const std::int64_t quarter = tiles.columns / 4;
  tiles.column_rows = extent.column_runs
                          ? tiles.columns
                          : std::min(tiles.columns, quarter * ceil_divide(extent.columns, quarter));
  // More rows per lane reuse each column that it reads, if that leaves two blocks per multiprocessor.
  const std::int64_t usual = usual_rows(extent, c.texts);
  const bool many = c.texts * c.heads * (usual / 128) >= std::int64_t{2} * gpu.multiprocessors;
  tiles.rows = operands > 1                            ? (largest <= 128 ? 4 : 2)
               : largest <= 64 && usual >= 256 && many ? 8
                                                       : 4;
  // Short texts need few warps. If lengths differ, some texts are longer than the average.
  const std::int64_t expected = extent.row_runs ? 2 * usual : usual;
  tiles.warps = std::clamp<std::int64_t>(ceil_divide(expected, 4 * tiles.rows), 2, kMaxWarps);
  while (tiles.warps > 1 && tiles.shared_bytes() > gpu.shared_bytes_per_block)
    tiles.warps = (tiles.warps + 1) / 2;
  user_check(
      tiles.shared_bytes() <= gpu.shared_bytes_per_block,
      "attention with heads of {} and {} elements needs {} bytes of shared memory, {} has {}",
      c.head_size, c.value_size, tiles.shared_bytes(), gpu.name, gpu.shared_bytes_per_block);
  return tiles;
}

std::string_view value_name(DType dtype) {
  return dtype == DType::bf16 ? "bfloat16" : dtype == DType::f16 ? "float16" : "float";
}

void launch_attention(Call& call, const char* file, const char* function,
                      const AttentionExtent& extent, const AttentionTiles& tiles, AttentionCall c) {
  if (c.texts == 0 || c.heads == 0 || extent.rows == 0) return;
  const Program program{
      file,
      {fmt::format("VALUE={}", value_name(call.input(0).dtype())),
       fmt::format("HEAD_SIZE={}", tiles.head), fmt::format("VALUE_SIZE={}", tiles.value),
       fmt::format("COLUMNS={}", tiles.columns), fmt::format("ROWS={}", tiles.rows),
       fmt::format("WARPS={}", tiles.warps)}};
  c.column_rows = static_cast<std::int32_t>(tiles.column_rows);
  // Texts stored back to back each begin at a new tile.
  const std::int64_t blocks = extent.row_runs
                                  ? extent.rows / tiles.block_rows() + c.texts
                                  : ceil_divide(extent.rows, tiles.block_rows()) * c.texts;
  launch(call.device,
         {program,
          function,
          {blocks * c.heads},
          {32 * tiles.warps},
          static_cast<std::size_t>(tiles.shared_bytes())},
         c);
}

AttentionExtent of_queries(const AttentionCall& c) {
  return {c.queries, c.keys, c.query_runs != 0, c.begins != nullptr};
}
AttentionExtent of_keys(const AttentionCall& c) {
  return {c.keys, c.queries, c.begins != nullptr, c.query_runs != 0};
}

// ---- rows of the kernel table

std::string_view refused_heads(const CallSite& site, std::size_t operands) {
  const DType dtype = site.inputs[0].dtype;
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16)
    return "query is not of floats";
  for (std::size_t i = 0; i < operands; ++i) {
    if (site.inputs[i].dtype != dtype) return "operands are of several types";
    const Dim size = site.inputs[i].dim(3);
    if (size.symbol != 0) return "the head size is not known";
    if (size.size > kLargestHead) return "heads have more than 256 elements";
  }
  for (const Type& output : site.outputs)
    if (output.dtype != dtype) return "results are of another type than operands";
  return "";
}

std::string_view accepts_attention(const CallSite& site) { return refused_heads(site, 3); }
std::string_view accepts_attention_gradient(const CallSite& site) { return refused_heads(site, 4); }

// Dimensions of size 1 have stride 0, which tensor maps do not allow. Any valid stride will do.
Heads tensor_core_heads(const AttentionHeads& heads, std::int64_t size) {
  const auto stride = [&](std::int64_t elements) { return elements == 0 ? size : elements; };
  return {reinterpret_cast<Address>(heads.data), stride(heads.text_stride),
          stride(heads.token_stride), stride(heads.head_stride)};
}

// Puts the call on the queue and returns true if the Hopper kernel supports it, which also depends on addresses and the
// GPU.
bool attend_on_tensor_cores(const Call& call, const AttentionCall& c) {
  if (c.random_key != nullptr || c.begins != nullptr || c.head_size != c.value_size) return false;
  const auto heads = [&](const AttentionHeads& x) { return tensor_core_heads(x, c.head_size); };
  const HeadsAttention whole{.dtype = call.input(0).dtype(),
                             .texts = c.texts,
                             .queries = c.queries,
                             .keys = c.keys,
                             .heads = c.heads,
                             .size = c.head_size,
                             .scale = c.scale,
                             .q = heads(c.query),
                             .k = heads(c.key),
                             .v = heads(c.value),
                             .y = heads(c.y),
                             .mask = c.mask,
                             .mask_stride = c.mask_stride};
  CudaDevice& gpu = device_of(call.device);
  if (!fits_tensor_cores(gpu, whole)) return false;
  tensor_core_attention(gpu, whole);
  return true;
}

// Clears the results of tokens that belong to no text, which the kernels do not visit.
void clear_rest(Call& call, std::initializer_list<std::size_t> outputs) {
  if (!call.attributes.get<bool>("rest")) return;
  for (const std::size_t i : outputs)
    fill_zeros(call.device, call.output(i).device_pointer(), call.output(i).size_bytes());
}

void attention(Call& call) {
  AttentionCall c = attention_call(call, 3);
  const Tensor& y = call.output();
  if (c.query_runs != 0) clear_rest(call, {0});
  c.y = attention_heads(y);
  c.packed = c.packed != 0 && is_packed(y);
  if (y.count() == 0 || attend_on_tensor_cores(call, c)) return;
  const DType dtype = call.input(0).dtype();
  if (fits_half_attention(dtype, c)) return half_attention(call.device, dtype, c);
  const AttentionExtent extent = of_queries(c);
  launch_attention(call, "attention.cu", "attention", extent,
                   attention_tiles(c, extent, 1, device_of(call.device).info()), c);
}

std::int64_t attention_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes query = resolve(site.inputs[0].shape, bindings);
  return 3 * kFloatBytes * query[0] * query[1] * query[2];
}

void attention_gradient(Call& call) {
  AttentionCall c = attention_call(call, 4);
  c.dy = attention_heads(call.input(3));
  bool packed = c.packed != 0 && is_packed(call.input(3));
  AttentionHeads* const gradients[] = {&c.dquery, &c.dkey, &c.dvalue};
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor& gradient = call.output(i);
    *gradients[i] = attention_heads(gradient);
    packed = packed && is_packed(gradient);
  }
  if (c.query_runs != 0) clear_rest(call, {0});
  clear_rest(call, {1, 2});
  c.packed = packed;
  c.statistics = static_cast<float*>(call.workspace);
  const DType dtype = call.input(0).dtype();
  if (fits_half_attention(dtype, c)) return half_attention_gradient(call.device, dtype, c);
  const char* const file = "attention_gradient.cu";
  const GpuInfo& gpu = device_of(call.device).info();
  const AttentionExtent queries = of_queries(c), keys = of_keys(c);
  const AttentionTiles query_tiles = attention_tiles(c, queries, 2, gpu);
  c.query_rows = static_cast<std::int32_t>(query_tiles.block_rows());
  launch_attention(call, file, "attention_gradient_of_queries", queries, query_tiles, c);
  // No work is left for the second kernel if a block of the first holds a whole text.
  const bool all_short = !queries.row_runs && !keys.row_runs && c.queries > 0 &&
                         c.queries <= c.query_rows && c.keys <= query_tiles.columns;
  if (!all_short)
    launch_attention(call, file, "attention_gradient_of_keys", keys,
                     attention_tiles(c, keys, 2, gpu), c);
}

}  // namespace

KernelTable attention_kernels() {
  KernelTable table = {
      {"attention", "cuda", "tiles", accepts_attention, attention, Layout::rows},
      {"attention_gradient", "cuda", "tiles", accepts_attention_gradient, attention_gradient,
       Layout::rows, nullptr, attention_gradient_workspace},
  };
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
