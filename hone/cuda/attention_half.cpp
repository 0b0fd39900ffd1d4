#include "hone/cuda/attention_half.h"

#include <algorithm>

#include "hone/cuda/launch.h"
#include "hone/cuda/source/attention_call.cuh"

namespace hone::cuda {
namespace {

constexpr std::int64_t kHalfUnit = 8;  // elements in 16 bytes
constexpr std::int64_t kHalfBytes = 2, kNumberBytes = 4;

// ---- constants and sizes as in the kernels' sources

constexpr std::int64_t kHalfWarpRows = 16, kForwardColumns = 64, kLongRows = 64, kMaxTokens = 128;

std::int64_t gradient_columns(std::int64_t size) { return size > 64 ? 32 : 64; }
std::int64_t vectors_bytes(std::int64_t count, std::int64_t size) {
  return kHalfBytes * count * (size + kHalfUnit);
}

std::int64_t forward_bytes(std::int64_t rows, std::int64_t size) {
  return vectors_bytes(rows + 4 * kForwardColumns, size) + 2 * kForwardColumns * kNumberBytes;
}
std::int64_t short_bytes(std::int64_t tokens, std::int64_t size) {
  return 4 * vectors_bytes(tokens, size) + kHalfBytes * tokens * (tokens + kHalfUnit) +
         kNumberBytes * tokens;
}
std::int64_t long_bytes(std::int64_t size, std::int64_t numbers_per_column) {
  const std::int64_t columns = gradient_columns(size);
  return vectors_bytes(2 * kLongRows + 4 * columns, size) +
         2 * kNumberBytes * columns * numbers_per_column;
}

// ----

bool in_half_units(const AttentionHeads& heads) {
  return reinterpret_cast<std::uintptr_t>(heads.data) % 16 == 0 &&
         heads.text_stride % kHalfUnit == 0 && heads.head_stride % kHalfUnit == 0 &&
         heads.token_stride % kHalfUnit == 0;
}

Program half_program(const char* file, DType dtype, const AttentionCall& call,
                     const std::string& shape) {
  return {file,
          {dtype == DType::bf16 ? "VALUE=bfloat16" : "VALUE=float16",
           fmt::format("HEAD_SIZE={}", call.head_size),
           call.random_key == nullptr ? "DROPS=0" : "DROPS=1", shape}};
}

// Returns the number of blocks: one for each head and tile of `rows` rows. Texts stored back to back (`in_runs`) each
// begin at a new tile.
std::int64_t half_blocks(const AttentionCall& call, std::int64_t all_rows, bool in_runs,
                         std::int64_t rows) {
  const std::int64_t tiles =
      in_runs ? all_rows / rows + call.texts : ceil_divide(all_rows, rows) * call.texts;
  return all_rows == 0 ? 0 : tiles * call.heads;
}

void launch_half(Device& device, const Program& program, const char* function, std::int64_t blocks,
                 std::int64_t threads, std::int64_t shared_bytes, const AttentionCall& call) {
  if (blocks > 0)
    launch(device, {program, function, {blocks}, {threads}, static_cast<std::size_t>(shared_bytes)},
           call);
}

// Returns the length of the longest texts that the kernel for short texts holds in shared memory, a multiple of 32 and
// no longer than this call needs. 0: that kernel is of no use.
std::int64_t short_tokens(const AttentionCall& call, const GpuInfo& gpu) {
  const std::int64_t longest = 32 * ceil_divide(std::max(call.queries, call.keys), 32);
  std::int64_t tokens = std::min(longest, kMaxTokens);
  while (tokens > 0 && short_bytes(tokens, call.head_size) > gpu.shared_bytes_per_block)
    tokens -= 32;
  // Only the GPU knows the lengths of texts whose keys are stored back to back.
  const bool is_known_longer = call.query_runs == 0 && call.queries > tokens;
  return (call.begins == nullptr ? tokens < longest : is_known_longer) ? 0 : tokens;
}

}  // namespace

bool fits_half_attention(DType dtype, const AttentionCall& call) {
  if (dtype != DType::bf16 && dtype != DType::f16) return false;
  if (call.head_size != call.value_size || call.head_size % 32 != 0) return false;
  if (call.head_size <= 0 || call.head_size > 128) return false;
  for (const AttentionHeads* heads : {&call.query, &call.key, &call.value, &call.dy, &call.y,
                                      &call.dquery, &call.dkey, &call.dvalue})
    if (!in_half_units(*heads)) return false;
  return true;
}

void half_attention(Device& device, DType dtype, const AttentionCall& call) {
  // If lengths differ, some texts have more queries than the average.
  const std::int64_t usual =
      call.query_runs != 0 ? 2 * ceil_divide(call.queries, std::max<std::int64_t>(call.texts, 1))
                           : call.queries;
  const std::int64_t warps = usual <= kHalfWarpRows ? 1 : usual <= 2 * kHalfWarpRows ? 2 : 4;
  const std::int64_t rows = warps * kHalfWarpRows;
  launch_half(device,
              half_program("attention_half.cu", dtype, call, fmt::format("WARPS={}", warps)),
              "attention_half", half_blocks(call, call.queries, call.query_runs != 0, rows),
              32 * warps, forward_bytes(rows, call.head_size), call);
}

void half_attention_gradient(Device& device, DType dtype, AttentionCall call) {
  const std::int64_t tokens = short_tokens(call, device_of(device).info()), size = call.head_size;
  const Program program = half_program("attention_half_gradient.cu", dtype, call,
                                       fmt::format("TOKENS={}", tokens == 0 ? kMaxTokens : tokens));
  call.query_rows = static_cast<std::int32_t>(tokens);
  if (tokens > 0)
    launch_half(device, program, "attention_half_gradient_of_short", call.texts * call.heads,
                2 * tokens, short_bytes(tokens, size), call);
  if (std::max(call.queries, call.keys) <= tokens) return;
  launch_half(device, program, "attention_half_gradient_of_queries",
              half_blocks(call, call.queries, call.query_runs != 0, kLongRows), 128,
              long_bytes(size, 1), call);
  launch_half(device, program, "attention_half_gradient_of_keys",
              half_blocks(call, call.keys, call.begins != nullptr, kLongRows), 128,
              long_bytes(size, 3), call);
}

}  // namespace hone::cuda
