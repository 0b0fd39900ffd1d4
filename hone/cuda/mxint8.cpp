#include "hone/cuda/mxint8.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "hone/base/error.h"
#include "hone/cuda/launch.h"

namespace hone::cuda {
namespace {

using kernels::MxintCodes;
using kernels::MxintDialect;

constexpr std::int64_t kThreads = 256, kPieceBytes = 16, kPieces = 4;  // as in mxint8.cu

bool begins_at(const void* memory, std::int64_t multiple) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uintptr_t>(multiple) == 0;
}

// Returns mxint8.cu for values of this many bytes, by bits, dialect and whether each piece is within one group
// (`runs`).
const Program& decoder(std::int64_t value_bytes, int bits, MxintDialect dialect, bool runs) {
  static const std::vector<Program> programs = [] {
    std::vector<Program> all;
    for (const char* value : {"VALUE=bfloat16", "VALUE=float"})
      for (const char* width : {"BITS=8", "BITS=4"})
        for (const char* mase : {"MASE=0", "MASE=1"})
          for (const char* by_runs : {"RUNS=0", "RUNS=1"})
            all.push_back({"mxint8.cu", {value, width, mase, by_runs}});
    return all;
  }();
  const int index = (value_bytes == 4 ? 8 : 0) + (bits == 4 ? 4 : 0) +
                    (dialect == MxintDialect::mase ? 2 : 0) + (runs ? 1 : 0);
  return programs[static_cast<std::size_t>(index)];
}

template <typename Value>
void dequantize(Device& device, const MxintCodes& x, MxintDialect dialect, Value* y) {
  HONE_ASSERT((x.bits == 4 || x.bits == 8) && x.group >= 1 && x.count >= 0,
              "{} elements of {} bits in groups of {}", x.count, x.bits, x.group);
  if (x.count == 0) return;
  constexpr std::int64_t kElements = kPieceBytes / static_cast<std::int64_t>(sizeof(Value));
  const auto group = static_cast<std::uint64_t>(x.group);
  const bool runs = std::has_single_bit(group) && x.group >= kElements;
  const Program& program = decoder(sizeof(Value), x.bits, dialect, runs);
  const bool pieces = begins_at(y, kPieceBytes) && begins_at(x.codes, kElements * x.bits / 8);
  const std::int64_t whole = pieces ? x.count / kElements * kElements : 0;
  if (whole > 0) {
    const std::int64_t group_argument = runs ? std::countr_zero(group) : x.group;
    launch(
        device,
        {program, "dequantize", {ceil_divide(whole, kThreads * kPieces * kElements)}, {kThreads}},
        whole, group_argument, x.codes, x.scales, y);
  }
  if (whole == x.count) return;
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  const std::int64_t blocks = std::min(kMaxBlocks, ceil_divide(x.count - whole, kThreads));
  launch(device, {program, "dequantize_each", {blocks}, {kThreads}}, whole, x.count, x.group,
         x.codes, x.scales, y);
}

}  // namespace

void dequantize_mxint(Device& device, const MxintCodes& x, MxintDialect dialect, std::uint16_t* y) {
  dequantize(device, x, dialect, y);
}
void dequantize_mxint(Device& device, const MxintCodes& x, MxintDialect dialect, float* y) {
  dequantize(device, x, dialect, y);
}

void quantize_mxint8(Device& device, std::int64_t count, std::int64_t group, MxintDialect dialect,
                     const float* x, std::uint8_t* codes, std::uint8_t* scales) {
  HONE_ASSERT(group >= 1 && count >= 0, "{} elements in groups of {}", count, group);
  if (count == 0) return;
  const Program& program = decoder(sizeof(float), 8, dialect, true);
  constexpr std::int64_t kTogether = 4, kWarp = 32;
  const bool runs = std::has_single_bit(static_cast<std::uint64_t>(group)) && group >= kTogether &&
                    group <= kTogether * kWarp && count % kTogether == 0 &&
                    begins_at(x, kPieceBytes) && begins_at(codes, kTogether);
  if (runs) {
    const auto threads = static_cast<int>(group / kTogether);
    launch(device,
           {program, "quantize_runs", {ceil_divide(count, kThreads * kTogether)}, {kThreads}},
           count, threads, x, codes, scales);
    return;
  }
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  const std::int64_t blocks =
      std::min(kMaxBlocks, ceil_divide(ceil_divide(count, group), kThreads / kWarp));
  launch(device, {program, "quantize_groups", {blocks}, {kThreads}}, count, group, x, codes,
         scales);
}

}  // namespace hone::cuda
