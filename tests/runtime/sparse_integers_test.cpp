#include "hone/runtime/sparse_integers.h"

#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "hone/formats/format.h"

namespace hone {
namespace {

constexpr double kHalf = 0.5;

// Returns a weight (70,100) with a share of its 1x4 blocks kept.
Tensor kept_blocks(double share) {
  RandomSequence random(7, 1);
  Tensor weight = Tensor::zeros(DType::f32, {70, 100});
  for (std::int64_t block = 0; block < weight.count() / 4; ++block) {
    if (random.uniform() >= share) continue;
    for (std::int64_t i = 4 * block; i < 4 * block + 4; ++i)
      weight.data<float>()[i] = static_cast<float>(random.normal());
  }
  return weight;
}

// Checks the early decision against the exact number of blocks, and the predicted size against the real one.
TEST(SparseIntegers, AreMadeWhereFewBlocksAreStored) {
  ThreadPool pool(2);
  const FormatTable formats = builtin_formats();
  for (const char* text :
       {"int(bits=8,per=row,scale=dynamic)", "int(bits=4,per=row,scale=dynamic)",
        "int(bits=3,per=row,scale=dynamic)", "int(bits=2,per=row,scale=dynamic)"}) {
    for (const Arrangement arrangement : kArrangements) {
      for (const double share : {0.0, 0.2, 0.48, 0.55, 0.9, 1.0}) {
        SCOPED_TRACE(fmt::format("{} in {}, {} stored", text, to_string(arrangement), share));
        const Format format = parse_format(text, formats);
        const Tensor weight = kept_blocks(share);
        const QuantizerInput input{format, weight.sizes(), weight.values<float>(), {}};
        const PackedLayout layout = packed_layout(format, weight.sizes(), arrangement);
        const PackedCodes packed = pack(input, layout, pool);
        const CodeUnits units = units_of(input).value();
        const auto* const codes = packed.codes.data<std::uint8_t>();
        const auto whole = sparse_integers({layout, units, codes}, pool);
        ASSERT_TRUE(whole.has_value());
        const SparseSource source{layout, units, codes, kHalf};
        const auto sparse = sparse_integers(source, pool);
        ASSERT_EQ(sparse.has_value(), whole->blocks.share() <= kHalf) << whole->blocks.share();
        const auto size = sparse_integers_size(source, pool);
        ASSERT_EQ(size.has_value(), sparse.has_value());
        if (!sparse) continue;
        EXPECT_EQ(sparse->entries, whole->entries);
        EXPECT_EQ(static_cast<std::int64_t>(sparse->bytes->size_bytes), size->bytes);
        EXPECT_EQ(sparse->blocks.kept, size->blocks.kept);
      }
    }
  }
}

}  // namespace
}  // namespace hone
