#include "hone/cuda/tensor_core_attention.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "hone/cuda/launch.h"

namespace hone::cuda {
namespace {

constexpr int kStages = 2;
constexpr std::int64_t kBoxColumns = 64;  // the 128 bytes that are swizzled
constexpr std::int64_t kUnit = 8;         // elements in 16 bytes

// ---- constants and structs as in the kernel's source

constexpr std::int64_t kTileKeys = 128;

struct TileShape {
  std::int64_t size, queries;

  std::int64_t threads() const { return 128 * (queries / 64 + 1); }
  std::int64_t shared_bytes(bool masked) const {
    constexpr std::int64_t kAlignment = 1024, kBarriers = std::int64_t{8} * (2 + 4 * kStages);
    return kAlignment + 2 * size * (queries + std::int64_t{2} * kStages * kTileKeys) +
           (masked ? std::int64_t{4} * kStages * kTileKeys : 0) + kBarriers;
  }
};
constexpr TileShape kTiles64{64, 192}, kTiles128{128, 128};

struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

struct Work {
  Address output;
  std::int64_t output_text, output_token, output_head;
  const float* mask;
  std::int64_t mask_text;
  int heads, queries, keys;
  int query_tiles, tiles;
  float scale;
};

// ----

bool in_units(const Heads& heads) {
  return heads.address % 16 == 0 && heads.text_stride % kUnit == 0 &&
         heads.token_stride % kUnit == 0 && heads.head_stride % kUnit == 0;
}

bool can_be_mapped(const Heads& heads) {
  constexpr std::int64_t kEnd = std::int64_t(1) << 39;  // elements of 2 bytes in 2^40
  for (const std::int64_t stride : {heads.text_stride, heads.token_stride, heads.head_stride})
    if (stride <= 0 || stride >= kEnd) return false;
  return true;
}

std::int64_t query_tiles(const HeadsAttention& attention, const TileShape& tile) {
  return ceil_divide(attention.queries, tile.queries);
}

/// Describes heads in boxes of 64 columns by `box_tokens` tokens of one head. Elements outside read as 0.
TensorMap map_of(const HeadsAttention& attention, const Heads& heads, std::int64_t tokens,
                 std::int64_t box_tokens) {
  constexpr int kFloat16 = 6, kBfloat16 = 9;  // CU_TENSOR_MAP_DATA_TYPE_...
  constexpr int kNoInterleave = 0, kSwizzle128Bytes = 3, kPromote128Bytes = 2, kFillZeros = 0;
  const auto bytes = [](std::int64_t stride) { return static_cast<std::uint64_t>(stride) * 2; };
  const std::uint64_t sizes[] = {
      static_cast<std::uint64_t>(attention.size), static_cast<std::uint64_t>(tokens),
      static_cast<std::uint64_t>(attention.heads), static_cast<std::uint64_t>(attention.texts)};
  const std::uint64_t strides[] = {bytes(heads.token_stride), bytes(heads.head_stride),
                                   bytes(heads.text_stride)};
  const std::uint32_t box[] = {kBoxColumns, static_cast<std::uint32_t>(box_tokens), 1, 1};
  const std::uint32_t steps[] = {1, 1, 1, 1};
  TensorMap map;
  check(driver().encode_tensor_map(&map, attention.dtype == DType::bf16 ? kBfloat16 : kFloat16, 4,
                                   std::bit_cast<void*>(heads.address), sizes, strides, box, steps,
                                   kNoInterleave, kSwizzle128Bytes, kPromote128Bytes, kFillZeros),
        "describing a tensor to the copy engine");
  return map;
}

template <int kSize, bool kMasked>
const Program& program_of(DType dtype) {
  const auto make = [](const char* value) {
    return Program{"attention_tensor_core.cu",
                   {std::string("VALUE=") + value, "DEPTH=" + std::to_string(kSize),
                    kMasked ? "MASK=1" : "MASK=0"}};
  };
  static const Program bfloat16 = make("bfloat16"), float16 = make("float16");
  return dtype == DType::bf16 ? bfloat16 : float16;
}

const Program& program_of(const HeadsAttention& attention) {
  const bool masked = attention.mask != nullptr;
  if (attention.size == 64)
    return masked ? program_of<64, true>(attention.dtype) : program_of<64, false>(attention.dtype);
  return masked ? program_of<128, true>(attention.dtype) : program_of<128, false>(attention.dtype);
}

}  // namespace

bool has_hopper_tensor_cores(CudaDevice& device) { return device.info().major == 9; }

bool fits_tensor_cores(CudaDevice& device, const HeadsAttention& attention) {
  if (!has_hopper_tensor_cores(device)) return false;
  if (attention.dtype != DType::bf16 && attention.dtype != DType::f16) return false;
  if (attention.size != 64 && attention.size != 128) return false;
  if (!(attention.scale > 0 && attention.scale < std::numeric_limits<float>::infinity()))
    return false;
  constexpr std::int64_t kMost = std::int64_t(1) << 30;  // the kernel counts in 32 bits
  const std::int64_t counts[] = {attention.texts, attention.queries, attention.keys,
                                 attention.heads};
  for (const std::int64_t count : counts)
    if (count <= 0 || count >= kMost) return false;
  if (attention.texts * attention.heads >= kMost / ceil_divide(attention.queries, 64)) return false;
  if (!can_be_mapped(attention.q) || !can_be_mapped(attention.k) || !can_be_mapped(attention.v))
    return false;
  return in_units(attention.q) && in_units(attention.k) && in_units(attention.v) &&
         in_units(attention.y);
}

void tensor_core_attention(CudaDevice& device, const HeadsAttention& attention) {
  HONE_ASSERT(fits_tensor_cores(device, attention),
              "attention that does not fit the tensor cores' kernel");
  device.enter();
  const TileShape& tile = attention.size == 64 ? kTiles64 : kTiles128;
  const TensorMap q = map_of(attention, attention.q, attention.queries, tile.queries);
  const TensorMap k = map_of(attention, attention.k, attention.keys, kTileKeys);
  const TensorMap v = map_of(attention, attention.v, attention.keys, kTileKeys);
  const std::int64_t head_tiles = query_tiles(attention, tile),
                     tiles = head_tiles * attention.texts * attention.heads;
  const Work work{.output = attention.y.address,
                  .output_text = attention.y.text_stride,
                  .output_token = attention.y.token_stride,
                  .output_head = attention.y.head_stride,
                  .mask = attention.mask,
                  .mask_text = attention.mask_stride,
                  .heads = static_cast<int>(attention.heads),
                  .queries = static_cast<int>(attention.queries),
                  .keys = static_cast<int>(attention.keys),
                  .query_tiles = static_cast<int>(head_tiles),
                  .tiles = static_cast<int>(tiles),
                  .scale = attention.scale};
  // A block fills a multiprocessor and iterates over tiles.
  const std::int64_t blocks = std::min<std::int64_t>(tiles, device.info().multiprocessors);
  launch(device,
         {program_of(attention),
          "attention_tensor_core",
          {blocks},
          {tile.threads()},
          static_cast<std::size_t>(tile.shared_bytes(attention.mask != nullptr))},
         q, k, v, work);
}

}  // namespace hone::cuda
