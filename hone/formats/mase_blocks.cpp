#include "hone/formats/mase_blocks.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"

namespace hone {
namespace {

// Returns the shared numbers of the blocks.
std::vector<float> shared_numbers(const BlockLayout& layout, const MaseBlocks& blocks,
                                  ThreadPool& pool, std::span<const float> x) {
  std::vector<float> numbers(static_cast<std::size_t>(layout.blocks()));
  for_each_block(layout, pool, [&](std::int64_t block, std::span<const std::int64_t> offsets) {
    numbers[static_cast<std::size_t>(block)] = largest_magnitude(x, offsets);
  });
  float smallest = INFINITY;
  for (const float largest : numbers)
    if (std::isnan(largest) || (largest != 0 && largest < smallest)) smallest = largest;
  const bool all_zero = std::ranges::all_of(numbers, [](float largest) { return largest == 0; });
  for (float& number : numbers)
    number = blocks.shared(number != 0 ? number : all_zero ? 1.0f : smallest);
  return numbers;
}

}  // namespace

void quantize_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, ThreadPool& pool,
                          std::span<const float> x, std::span<float> y) {
  const std::vector<float> shared = shared_numbers(layout, blocks, pool, x);
  for_each_block(layout, pool, [&](std::int64_t block, std::span<const std::int64_t> offsets) {
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      y[i] = blocks.round(shared[static_cast<std::size_t>(block)], x[i]);
    }
  });
}

Codes encode_mase_blocks(const Format& format, const BlockLayout& layout, const MaseBlocks& blocks,
                         std::span<const float> x) {
  ThreadPool alone(1);
  const std::vector<float> shared = shared_numbers(layout, blocks, alone, x);
  Codes codes{std::vector<std::uint32_t>(x.size()), {}};
  for_each_block(layout, [&](std::int64_t block, std::span<const std::int64_t> offsets) {
    const float number = shared[static_cast<std::size_t>(block)];
    const float largest = largest_magnitude(x, offsets);
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      const float y = blocks.round(number, x[i]);
      check_has_code(format, std::isfinite(number) && std::isfinite(y), largest);
      codes.elements[i] = blocks.code(number, y);
      check_has_code(format, blocks.value(number, codes.elements[i]) == y, x[i]);
    }
    codes.shared.push_back(
        static_cast<std::uint32_t>(static_cast<int>(number) + blocks.shared_bias));
  });
  return codes;
}

void decode_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, const Codes& codes,
                        std::span<float> y) {
  for_each_block(layout, [&](std::int64_t block, std::span<const std::int64_t> offsets) {
    const std::uint32_t shared = codes.shared[static_cast<std::size_t>(block)];
    const auto number = static_cast<float>(static_cast<int>(shared) - blocks.shared_bias);
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      y[i] = blocks.value(number, codes.elements[i]);
    }
  });
}

}  // namespace hone
