#include "hone/jobs/allocation/best_allocation.h"

#include <gtest/gtest.h>

#include "hone/analysis/precision.h"
#include "hone/jobs/allocation/packed_copy.h"
#include "hone/passes/prune.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

AllocationRequest request_of(double bits) {
  AllocationRequest request;
  request.options = parse_format_options("int(bits=8),int(bits=2)",
                                         {std::begin(kReadOperands), std::end(kReadOperands)},
                                         quiet_context().library.formats);
  request.budgets = {
      {BudgetQuantity::average_bits, bits, fmt::format("average_bits <= {:g}", bits)}};
  return request;
}

// The divergences of single options depend on the model, not on the budget.
TEST(BestAllocation, MeasuresOnceWhatOptionsDoAlone) {
  const Model model = tiny_model();
  LayerDivergences alone;
  const auto best = [&](double bits, LayerDivergences* known) {
    return best_allocation(model, request_of(bits),
                           allocation_texts(choice_splits(), /*samples=*/8, {}, /*seed=*/1),
                           choice_splits().train, quiet_context(), known);
  };
  best(6, &alone);
  ASSERT_FALSE(alone.empty());
  const BestAllocation shared = best(4, &alone), own = best(4, nullptr);
  EXPECT_EQ(shared.average_bits, own.average_bits);
  EXPECT_EQ(shared.predicted, own.predicted);
  EXPECT_GT(own.predicted, 0);
  // If the narrow option is known to have no effect, the prediction is 0.
  for (auto& layer : alone) layer.back().mean = layer.front().mean = 0;
  EXPECT_EQ(best(4, &alone).predicted, 0);
}

/// The tiny model's linears in two formats, both dense and pruned in blocks.
class PrunedOptions : public ::testing::Test {
 protected:
  PrunedOptions() {
    request_.options =
        parse_options({"int(bits=8,per=row)", "none"}, {.shares = {0.75}, .structures = {"1x4"}},
                      {Operand::weight}, quiet_context().library.formats);
    const Graph plain = unquantized_graph(model_);
    for (const Node* node : plain.operations(kDefaultLayer)) layers_.push_back(node->name());
  }
  const Model model_ = tiny_model();
  AllocationRequest request_;
  std::vector<std::string> layers_;
};

TEST_F(PrunedOptions, AreStoredWithoutTheirZeros) {
  const auto bits =
      stored_bits(model_, layers_, request_.options, choice_splits(), {}, quiet_context());
  ASSERT_EQ(bits.size(), layers_.size());
  for (const std::vector<std::int64_t>& layer : bits) {
    ASSERT_EQ(layer.size(), 4u);
    constexpr std::int64_t kHeadBits = 32 * 32 * 2;
    if (layer[1] <= kHeadBits) continue;  // too small for a bitmap
    const auto ratio = [&](std::size_t pruned, std::size_t whole) {
      return static_cast<double>(layer[pruned]) / static_cast<double>(layer[whole]);
    };
    EXPECT_LT(ratio(0, 1), 0.5);
    EXPECT_LT(ratio(2, 0), 0.7);
    EXPECT_LT(ratio(3, 1), 0.4);
  }
}

TEST_F(PrunedOptions, ArePackedWithoutMasks) {
  for (const LayerOption& option : request_.options) {
    const Model packed = packed_copy(model_, layers_, option, choice_splits(), {}, quiet_context());
    EXPECT_TRUE(pruned_weights(packed.graph).empty()) << option.label();
  }
}

// A budget is not refused if only leaving out zeros meets it.
TEST_F(PrunedOptions, MeetBudgetsOfBytesByWhatFilesLeaveOut) {
  LayerCosts costs = layer_costs(unquantized_graph(model_), request_.options);
  const auto least = static_cast<double>(costs.packed_bytes(Allocation(layers_.size(), 0)));
  exclude_zeros(
      costs, request_.options,
      stored_bits(model_, layers_, request_.options, choice_splits(), {}, quiet_context()));
  const auto sparse = static_cast<double>(costs.packed_bytes(Allocation(layers_.size(), 2)));
  ASSERT_LT(sparse, least);
  const double most = (sparse + least) / 2;
  request_.budgets = {
      {BudgetQuantity::packed_bytes, most, fmt::format("packed_bytes <= {}", most)}};
  const BestAllocation best =
      best_allocation(model_, request_, allocation_texts(choice_splits(), /*samples=*/8, {}, 1),
                      choice_splits().train, quiet_context());
  EXPECT_FALSE(best.sparsities.empty());
  for (const auto& [layer, sparsity] : best.sparsities)
    EXPECT_TRUE(sparsity == request_.options[2].sparsity) << layer;
}

}  // namespace
}  // namespace hone::testing
