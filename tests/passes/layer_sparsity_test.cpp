#include "hone/passes/layer_sparsity.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"

namespace hone {
namespace {

const LayerSparsity kBlocks = {.share = 0.75, .structure = parse_structure("1x4")};

TEST(LayerSparsity, CountsTheBitsThatStayAndOneForEachBlock) {
  EXPECT_EQ(sparse_bits(8, {}), 8);
  EXPECT_EQ(sparse_bits(8, {.share = 0.5}), 4 + 1);
  EXPECT_EQ(sparse_bits(8, kBlocks), 2 + 0.25);
  EXPECT_EQ(sparse_bits(32, {.share = 0.5, .structure = parse_structure("4x2")}), 16 + 0.125);
}

TEST(LayerSparsity, IsANumberOfSingleWeightsAndNamesBlocks) {
  EXPECT_EQ(to_json(LayerSparsity{.share = 0.5}), Json(0.5));
  EXPECT_EQ(to_json(kBlocks), Json({{"sparsity", 0.75}, {"structure", "1x4"}}));
  for (const LayerSparsity& one : {LayerSparsity{.share = 0.5}, kBlocks})
    EXPECT_TRUE(layer_sparsity_from(to_json(one)) == one);
  EXPECT_EQ(to_text({.share = 0.5}), "50.0% pruned");
  EXPECT_EQ(to_text(kBlocks), "75.0% pruned in blocks of 1x4");
}

TEST(LayerSparsity, IsOfNoPattern) {
  EXPECT_TRUE(parse_layer_structure("weights") == PruneStructure{});
  EXPECT_TRUE(parse_layer_structure("4x1") == parse_structure("4x1"));
  for (const char* text : {"2:4", "heads", ""})
    EXPECT_THROW(parse_layer_structure(text), UserError) << text;
}

}  // namespace
}  // namespace hone
