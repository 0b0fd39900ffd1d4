#include "hone/jobs/allocation/best_allocation.h"

#include <gtest/gtest.h>

#include "hone/analysis/precision.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

AllocationRequest request_of(double bits) {
  AllocationRequest request;
  request.options = parse_format_options("int(bits=8),int(bits=2)",
                                         {std::begin(kReadOperands), std::end(kReadOperands)},
                                         quiet_context().library.formats);
  request.budgets = {{BudgetFigure::average_bits, bits, fmt::format("average_bits <= {:g}", bits)}};
  return request;
}

// What options do alone goes with the model, not with the budget.
TEST(BestAllocation, MeasuresOnceWhatOptionsDoAlone) {
  const Model model = tiny_model();
  AloneDivergences alone;
  const auto best = [&](double bits, AloneDivergences* known) {
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
  // Known to do nothing, the narrow option is predicted to.
  for (auto& layer : alone) layer.back().mean = layer.front().mean = 0;
  EXPECT_EQ(best(4, &alone).predicted, 0);
}

}  // namespace
}  // namespace hone::testing
