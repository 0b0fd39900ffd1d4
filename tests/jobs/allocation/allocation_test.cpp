#include <gtest/gtest.h>

#include "hone/analysis/precision.h"
#include "hone/base/error.h"
#include "hone/jobs/allocation/allocation_sentences.h"
#include "hone/models/model_source.h"
#include "hone/runtime/library.h"
#include "tests/support/message.h"

namespace hone {
namespace {

using hone::testing::message_of;

const FormatTable& all_formats() {
  static const Library library = builtin_library();
  return library.formats;
}

const std::vector<Operand> kAll(std::begin(kReadOperands), std::end(kReadOperands));

TEST(AllocationOptions, AreFormatsByCommaOutsideOfParentheses) {
  const std::vector<LayerOption> options =
      parse_format_options("int(bits=8,per=row), none,mxint(bits=4)", kAll, all_formats());
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].text, "int(bits=8,per=row)");
  EXPECT_EQ(to_string(*options[0].formats->weight),
            to_string(parse_format("int(bits=8,per=row)", all_formats())));
  EXPECT_EQ(options[1].text, "none");
  EXPECT_FALSE(options[1].formats.has_value());
  EXPECT_TRUE(options[2].formats.has_value());
}

TEST(AllocationOptions, AreOfSomeOperands) {
  const std::vector<LayerOption> options =
      parse_format_options("int(bits=8,per=row),none", parse_operands({"weight"}), all_formats());
  EXPECT_TRUE(options[0].formats->weight.has_value());
  EXPECT_FALSE(options[0].formats->input.has_value());
  EXPECT_EQ(message_of([&] {
              parse_operands({"weight", "output"});
            }),
            "operand 'output': expected input, weight or bias, separated by commas");
  EXPECT_EQ(message_of([&] { parse_operands({"input"}); }),
            "without the weight there are no bits to save; give weight, or input,weight,bias");
}

TEST(AllocationOptions, SayWhatTheyCannotBe) {
  const auto message = [](const std::string& text) {
    return message_of([&] { parse_format_options(text, kAll, all_formats()); });
  };
  EXPECT_NE(message("int(bits=8),nit(bits=4)").find("nit"), std::string::npos);
  EXPECT_EQ(message("none,bf16,none"), "option none is listed twice");
  EXPECT_EQ(message("int(bits=8),int(bits=8,per=tensor)"),
            "option int(bits=8,per=tensor) is listed twice");
  EXPECT_EQ(message("bf16"),
            "bf16 is the only option; give at least two, such as 'int(bits=8),mxint(bits=4)'; none "
            "is full precision");
}

TEST(AllocationBudgets, BoundBitsAndBytes) {
  const std::vector<AllocationBudget> budgets =
      parse_budgets({"average_bits<=5.5", " packed_bytes <= 4e6"});
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_EQ(budgets[0].quantity, BudgetQuantity::average_bits);
  EXPECT_EQ(budgets[0].limit, 5.5);
  EXPECT_EQ(budgets[1].quantity, BudgetQuantity::packed_bytes);
  EXPECT_EQ(budgets[1].limit, 4e6);
  EXPECT_EQ(budgets[1].text, "packed_bytes <= 4e6");
}

TEST(AllocationBudgets, SayWhatTheyCannotBe) {
  const auto message = [](const std::vector<std::string>& texts) {
    return message_of([&] { parse_budgets(texts); });
  };
  for (const char* text : {"average_bits", "bits<=5", "average_bits<=", "average_bits<=5x",
                           "average_bits<=-1", "average_bits<=inf"})
    EXPECT_EQ(message({text}),
              fmt::format("budget '{}': expected average_bits<=NUMBER, packed_bytes<=NUMBER or "
                          "latency_ms<=NUMBER, such as average_bits<=5",
                          text));
  EXPECT_EQ(message({"average_bits<=5", "average_bits<=6"}),
            "budget 'average_bits<=6': average_bits already has a limit, average_bits <= 5");
  EXPECT_EQ(message({}),
            "`budget` is missing; give one or more of average_bits<=5, packed_bytes<=4e6, "
            "latency_ms<=1.2");
  EXPECT_EQ(message({"average_bits<=5", "packed_bytes<=4e6", "latency_ms<=1", "packed_bytes<=3e6"}),
            "budget 'packed_bytes<=3e6': packed_bytes already has a limit, packed_bytes <= 4e6");
}

/// The linears of a small BERT, with two formats and full precision as options.
class AllocationProblems : public ::testing::Test {
 protected:
  AllocationProblems()
      : graph_(unquantized_graph(new_model(new_model_facts("tiny"), all_ops(), 1, nullptr))),
        options_(parse_format_options("int(bits=8),mxint(bits=4),none", kAll, all_formats())),
        costs_(layer_costs(graph_, options_)) {}
  static const OpTable& all_ops() {
    static const Library library = builtin_library();
    return library.ops;
  }
  // The damage of each option in layer i is (i + 1) times that in layer 0.
  std::vector<std::vector<double>> damages() const {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < costs_.layers.size(); ++i)
      all.push_back({0.01 * static_cast<double>(i + 1), 0.1 * static_cast<double>(i + 1), 0});
    return all;
  }
  BudgetedFront solve(const std::vector<std::string>& budgets,
                      const std::vector<std::vector<std::size_t>>& tied = {}) const {
    return solve_allocation(costs_, damages(), parse_budgets(budgets), tied);
  }
  Graph graph_;
  std::vector<LayerOption> options_;
  LayerCosts costs_;
};

TEST_F(AllocationProblems, CountTheBitsThatPlansHave) {
  Allocation mixed(costs_.layers.size());
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = i % 3;
  for (const Allocation& allocation :
       {Allocation(mixed.size(), 0), Allocation(mixed.size(), 2), mixed}) {
    const QuantizationPlan plan = allocated_plan(costs_, options_, allocation);
    const PlannedSize size = planned_size(graph_, plan);
    EXPECT_EQ(static_cast<double>(costs_.packed_bytes(allocation)), std::ceil(size.bits / 8));
    double bits = 0;
    for (std::size_t i = 0; i < allocation.size(); ++i)
      bits += costs_.average_bits(i, allocation[i]) * static_cast<double>(costs_.elements[i]);
    EXPECT_DOUBLE_EQ(costs_.average_bits(allocation), bits / static_cast<double>(costs_.weights));
  }
  EXPECT_EQ(costs_.average_bits(Allocation(mixed.size(), 2)), 32);
}

TEST_F(AllocationProblems, CountBiasesInFullPrecisionWhereWeightsAloneHaveFormats) {
  const std::vector<LayerOption> options =
      parse_format_options("int(bits=8,per=row),none", parse_operands({"weight"}), all_formats());
  const LayerCosts costs = layer_costs(graph_, options);
  const Allocation all(costs.layers.size(), 0);
  const PlannedSize size = planned_size(graph_, allocated_plan(costs, options, all));
  EXPECT_EQ(static_cast<double>(costs.packed_bytes(all)), std::ceil(size.bits / 8));
  EXPECT_GT(costs.packed_bits[0][0] - costs.weight_bits[0][0], 0);
}

TEST_F(AllocationProblems, AreSolvedWithinOneBudgetOrBoth) {
  const std::vector<AllocationBudget> bits = parse_budgets({"average_bits<=6"});
  const BudgetedFront by_bits = solve({"average_bits<=6"});
  const Allocation best = by_bits.allocation(by_bits.best);
  EXPECT_TRUE(within(costs_, bits, best));
  EXPECT_LE(costs_.average_bits(best), 6);
  // The next point of the front does less damage but exceeds the budget.
  EXPECT_FALSE(within(costs_, bits, by_bits.allocation(by_bits.best + 1)));
  const std::int64_t bytes = costs_.packed_bytes(best);
  const BudgetedFront by_bytes = solve({fmt::format("packed_bytes<={}", bytes)});
  EXPECT_LE(costs_.packed_bytes(by_bytes.allocation(by_bytes.best)), bytes);
  EXPECT_LE(by_bytes.front.points[by_bytes.best].damage, by_bits.front.points[by_bits.best].damage);
  const std::string fewer = fmt::format("packed_bytes<={}", bytes - 1000);
  const BudgetedFront both = solve({"average_bits<=6", fewer});
  EXPECT_TRUE(
      within(costs_, parse_budgets({"average_bits<=6", fewer}), both.allocation(both.best)));
  EXPECT_GE(both.front.points[both.best].damage, by_bits.front.points[by_bits.best].damage);
}

TEST_F(AllocationProblems, LeaveOutOptionsThatBreakAnswers) {
  std::vector<std::vector<double>> damages = this->damages();
  damages[2][0] = std::nan("");
  const BudgetedFront front =
      solve_allocation(costs_, damages, parse_budgets({"average_bits<=32"}), {{2, 4}});
  for (std::size_t i = 0; i < front.front.points.size(); ++i) {
    EXPECT_NE(front.allocation(i)[2], 0u);
    EXPECT_EQ(front.allocation(i)[2], front.allocation(i)[4]);
  }
  damages[1] = {std::nan(""), std::nan(""), std::nan("")};
  EXPECT_EQ(message_of([&] {
              solve_allocation(costs_, damages, parse_budgets({"average_bits<=32"}), {});
            }),
            costs_.layers[1] +
                ": with every option the model's predictions are not finite; give other options");
}

TEST_F(AllocationProblems, SayTheLeastThatCouldBeMet) {
  EXPECT_EQ(message_of([&] { solve({"average_bits<=4"}); }),
            "budget average_bits <= 4: no choice of these options meets it; the smallest that can "
            "be met is 4.25");
  const std::string bytes = message_of([&] { solve({"packed_bytes<=1000"}); });
  EXPECT_TRUE(
      bytes.starts_with("budget packed_bytes <= 1000: no choice of these options meets it; the "
                        "smallest that can be met is "))
      << bytes;
}

// The time of each option in layer i is (i + 1) times that in layer 0. The rest of the model takes a constant time.
LatencyTable made_up_times(std::size_t layers) {
  LatencyTable table{.batch = {1, 16}, .ms = {}, .whole_ms = 2, .rest_ms = 0.25};
  for (std::size_t i = 0; i < layers; ++i) {
    const auto scale = static_cast<double>(i + 1);
    table.ms.push_back({0.003 * scale, 0.001 * scale, 0.007 * scale});
  }
  return table;
}

TEST_F(AllocationProblems, CountTimesTooHighByLessThanAPieceForEachLayerAndTheRest) {
  const LatencyTable table = made_up_times(costs_.layers.size());
  const std::vector<AllocationBudget> budgets = parse_budgets({"latency_ms<=0.6"});
  add_latency(costs_, table, budgets[0].limit);
  const BudgetedFront solved = solve({"latency_ms<=0.6"});
  const auto pieces = static_cast<double>(costs_.layers.size() + 1);
  for (std::size_t i = 0; i < solved.front.points.size(); ++i) {
    const Allocation allocation = solved.allocation(i);
    double ms = table.rest_ms;
    for (std::size_t layer = 0; layer < allocation.size(); ++layer)
      ms += table.ms[layer][allocation[layer]];
    EXPECT_DOUBLE_EQ(costs_.total(BudgetQuantity::latency_ms, allocation), ms);
    const double counted = solved.value(costs_, solved.front.points[i].cost);
    EXPECT_GE(counted, ms * (1 - 1e-12));
    EXPECT_LE(counted, ms + pieces * costs_.unit_ms);
    EXPECT_EQ(within(costs_, budgets, allocation), counted <= 0.6);
  }
  EXPECT_TRUE(within(costs_, budgets, solved.allocation(solved.best)));
}

TEST_F(AllocationProblems, AreSolvedWithinTimesAndBitsAtOnce) {
  add_latency(costs_, made_up_times(costs_.layers.size()), 0.6);
  const std::vector<std::string> texts = {"average_bits<=6", "latency_ms<=0.6"};
  const BudgetedFront both = solve(texts);
  EXPECT_TRUE(within(costs_, parse_budgets(texts), both.allocation(both.best)));
  EXPECT_EQ(message_of([&] { solve({"latency_ms<=0.3"}); }).substr(0, 67),
            "budget latency_ms <= 0.3: no choice of these options meets it; the ");
}

TEST_F(AllocationProblems, AreSolvedWithinAllThreeBudgetsWhicheverComesFirst) {
  add_latency(costs_, made_up_times(costs_.layers.size()), 0.6);
  const BudgetedFront loose = solve({"average_bits<=8"});
  const std::int64_t bytes = costs_.packed_bytes(loose.allocation(loose.best)) - 1000;
  std::vector<std::string> texts = {"average_bits<=8", fmt::format("packed_bytes<={}", bytes),
                                    "latency_ms<=0.45"};
  const BudgetedFront all = solve(texts);
  const Allocation best = all.allocation(all.best);
  EXPECT_TRUE(within(costs_, parse_budgets(texts), best));
  // The choice for the first budget alone exceeds both other budgets.
  for (std::size_t i = 1; i < texts.size(); ++i)
    EXPECT_FALSE(within(costs_, parse_budgets({texts[i]}), loose.allocation(loose.best)));
  for (int turn = 0; turn < 2; ++turn) {
    std::ranges::rotate(texts, texts.begin() + 1);
    const BudgetedFront turned = solve(texts);
    EXPECT_EQ(turned.quantity, parse_budgets(texts)[0].quantity);
    EXPECT_NEAR(turned.front.points[turned.best].damage, all.front.points[all.best].damage, 1e-12);
  }
}

TEST_F(AllocationProblems, SayWhichBudgetsCannotBeMetTogether) {
  add_latency(costs_, made_up_times(costs_.layers.size()), 0.6);
  // Makes the format with few bits slow.
  LatencyTable slow = costs_.latency;
  for (std::vector<double>& layer : slow.ms) layer[1] = 10 * layer[0];
  add_latency(costs_, slow, 0.6);
  EXPECT_EQ(message_of([&] {
              solve({"average_bits<=4.3", "latency_ms<=0.6"});
            }),
            "budgets average_bits <= 4.3, latency_ms <= 0.6: each can be met, all together cannot; "
            "within the others the least of the first is 7.852");
  EXPECT_EQ(message_of([&] {
              solve({"packed_bytes<=1e9", "average_bits<=4.3", "latency_ms<=0.6"});
            }),
            "budgets packed_bytes <= 1e9, average_bits <= 4.3, latency_ms <= 0.6: each can be met, "
            "average_bits <= 4.3 and latency_ms <= 0.6 together cannot");
}

TEST_F(AllocationProblems, TieLayersByTheirNames) {
  const std::vector<std::string> layers = {"a.query", "a.key", "b.query", "pooler"};
  EXPECT_EQ(tied_layers(layers, {"*.query"}), (std::vector<std::vector<std::size_t>>{{0, 2}}));
  EXPECT_EQ(message_of([&] { tied_layers(layers, {"pool*"}); }),
            "`same_format`: 'pool*' matches 1 linear layer, expected at least two; see the names "
            "in `hone inspect MODEL`");
  EXPECT_EQ(message_of([&] {
              tied_layers(layers, {"a.*", "*.query"});
            }),
            "`same_format`: a.query matches two globs, the second is '*.query'");
}

TEST_F(AllocationProblems, SpreadPointsOverTheFrontAndBelowTheBudget) {
  const BudgetedFront solved = solve({"average_bits<=8"});
  const std::vector<std::size_t> points = spread_points(solved.front, solved.best, 12);
  EXPECT_GE(points.size(), 8u);
  EXPECT_LE(points.size(), 12u);
  EXPECT_TRUE(std::ranges::is_sorted(points));
  EXPECT_EQ(points.front(), 0u);
  EXPECT_EQ(points.back(), solved.front.points.size() - 1);
  EXPECT_NE(std::ranges::find(points, solved.best), points.end());
  EXPECT_EQ(spread_points(solved.front, solved.best, 1), std::vector<std::size_t>{solved.best});
}

TEST(AllocationPrediction, IsHeldAgainstWhatWasMeasuredOfTheFront) {
  std::vector<MeasuredPoint> points(4);
  const double predicted[] = {0.4, 0.3, 0.2, 0.1}, measured[] = {0.5, 0.25, 0.3, 9};
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].trial = static_cast<std::int64_t>(i);
    points[i].predicted = predicted[i];
    points[i].divergence.mean = measured[i];
  }
  points[3].kind = PointKind::swap;
  const double figures[] = {0.7, 0.85, 0.8, 0};
  for (std::size_t i = 0; i < points.size(); ++i) points[i].metric = figures[i];
  const PredictionCheck check = check_prediction(points, 0.9);
  EXPECT_EQ(check.points, 3u);
  EXPECT_DOUBLE_EQ(check.rank_correlation, 0.5);  // for the ranks 3 2 1 and 3 1 2
  EXPECT_DOUBLE_EQ(check.worst_residual, 0.1);
  EXPECT_EQ(check.worst_trial, 0);
  // By rising prediction (trials 2, 1, 0) the losses are 0.1, 0.05, 0.2. The fit replaces the first two by their mean.
  const double fitted[] = {0.075, 0.075, 0.2};
  ASSERT_EQ(check.fitted.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(check.fitted[i], fitted[i], 1e-12);
  EXPECT_NEAR(check.worst_misfit, 0.025, 1e-12);
  EXPECT_EQ(check.misfit_trial, 2);
}

TEST(AllocationPrediction, NamesTheCheapestThatIsWithinNoise) {
  std::vector<MeasuredPoint> points(4);
  const double bits[] = {8, 6, 4, 2}, means[] = {0.010, 0.011, 0.012, 0.020};
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].average_bits = bits[i];
    points[i].divergence = {means[i], means[i] - 0.003, means[i] + 0.003};
  }
  const auto cost = [](const MeasuredPoint& point) { return point.average_bits; };
  EXPECT_EQ(cheaper_equivalent(points, 0, cost), 2u);
  EXPECT_EQ(cheaper_equivalent(points, 2, cost), std::nullopt);
}

TEST_F(AllocationProblems, CountPrunedWeightsByThoseThatStayAndABitForEach) {
  const std::vector<LayerOption> options = with_sparsities(
      parse_format_options("int(bits=8),none", kAll, all_formats()), {{.share = 0.5}});
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[2].label(), "int(bits=8), 50.0% pruned");
  const LayerCosts costs = layer_costs(graph_, options);
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    EXPECT_EQ(costs.average_bits(i, 3), 17);
    EXPECT_NEAR(costs.average_bits(i, 2), 0.5 * costs.average_bits(i, 0) + 1,
                1.0 / static_cast<double>(costs.elements[i]));
    // The graph does not tell which zeros a file leaves out.
    EXPECT_EQ(costs.packed_bits[i][2], costs.packed_bits[i][0]);
  }
  const Allocation all(costs.layers.size(), 3);
  EXPECT_TRUE(allocated_plan(costs, options, all).empty());
  EXPECT_EQ(allocated_sparsities(costs, options, all).size(), costs.layers.size());
}

TEST(AllocationOptions, ArePrunedToo) {
  const std::vector<LayerOption> alone =
      parse_options({}, {.shares = {0.3, 0.7}}, kAll, all_formats());
  ASSERT_EQ(alone.size(), 3u);
  EXPECT_EQ(alone[0].label(), "none");
  EXPECT_EQ(alone[2].label(), "none, 70.0% pruned");
  const auto message = [](const std::vector<double>& sparsities) {
    return message_of([&] { parse_options({}, {.shares = sparsities}, kAll, all_formats()); });
  };
  EXPECT_EQ(message({0.5, 0.5}), "sparsity 0.5 is listed twice");
  EXPECT_EQ(
      message({0}),
      "sparsity 0: expected a share above 0 and below 1; the unpruned layer is always an option");
}

TEST(AllocationOptions, ArePrunedInBlocksToo) {
  const std::vector<LayerOption> options =
      parse_options({"int(bits=8)", "none"},
                    {.shares = {0.5, 0.8}, .structures = {"weights", "1x4"}}, kAll, all_formats());
  std::vector<std::string> labels;
  for (const LayerOption& option : options) labels.push_back(option.label());
  EXPECT_EQ(labels, (std::vector<std::string>{
                        "int(bits=8)", "none", "int(bits=8), 50.0% pruned", "none, 50.0% pruned",
                        "int(bits=8), 50.0% pruned in blocks of 1x4",
                        "none, 50.0% pruned in blocks of 1x4", "int(bits=8), 80.0% pruned",
                        "none, 80.0% pruned", "int(bits=8), 80.0% pruned in blocks of 1x4",
                        "none, 80.0% pruned in blocks of 1x4"}));
  const auto message = [](const SparsityTexts& sparsities) {
    return message_of([&] { parse_options({"int(bits=8)"}, sparsities, kAll, all_formats()); });
  };
  EXPECT_NE(message({.shares = {0.5}, .structures = {"2:4"}}).find("structure 2:4"),
            std::string::npos);
  EXPECT_EQ(message({.shares = {0.5}, .structures = {"1x4", "1x4"}}),
            "sparsity 0.5 is listed twice");
  EXPECT_EQ(message({.structures = {"1x4"}}),
            "structure 1x4 without sparsities removes nothing; give both");
}

TEST_F(AllocationProblems, CountABitForEachBlockAndWhatFilesLeaveOut) {
  const std::vector<LayerOption> options =
      with_sparsities(parse_format_options("int(bits=8),none", kAll, all_formats()),
                      {{.share = 0.75, .structure = parse_structure("1x4")}});
  LayerCosts costs = layer_costs(graph_, options);
  std::vector<std::vector<std::int64_t>> stored;
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    EXPECT_EQ(costs.average_bits(i, 3), 8.25);
    stored.push_back({1000, 4000, 300, 1100});
  }
  const std::vector<std::vector<std::int64_t>> before = costs.packed_bits;
  exclude_zeros(costs, options, stored);
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    EXPECT_EQ(costs.packed_bits[i][0], before[i][0]);
    EXPECT_EQ(costs.packed_bits[i][1], before[i][1]);
    EXPECT_EQ(costs.packed_bits[i][2], before[i][0] - 700);
    EXPECT_EQ(costs.packed_bits[i][3], before[i][1] - 2900);
  }
  EXPECT_TRUE(allocated_sparsities(costs, options, Allocation(costs.layers.size(), 3))[0].second ==
              options[3].sparsity);
}

}  // namespace
}  // namespace hone
