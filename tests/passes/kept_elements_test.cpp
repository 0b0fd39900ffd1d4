#include "hone/passes/kept_elements.h"

#include "hone/base/json.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

std::vector<int> mask_elements(const Tensor& kept) {
  return {kept.data<bool>(), kept.data<bool>() + kept.count()};
}

std::vector<int> kept_of(const PruneRule& rule, const Sizes& sizes,
                         const std::vector<float>& values, const Tensor& before = {}) {
  return mask_elements(kept_elements(rule, {{"w", Tensor::of<float>(sizes, values), before}})[0]);
}

std::vector<float> floats_in(const Json& values) {
  std::vector<float> all;
  for (const Json& value : values)
    if (value.is_array()) {
      const std::vector<float> row = floats_in(value);
      all.insert(all.end(), row.begin(), row.end());
    } else {
      all.push_back(
          static_cast<float>(value.is_boolean() ? value.get<bool>() : value.get<double>()));
    }
  return all;
}

std::vector<int> booleans_in(const Json& values) {
  const std::vector<float> floats = floats_in(values);
  return {floats.begin(), floats.end()};
}

/// Compares with torch.nn.utils.prune on two tensors; see tools/golden/pruning.py.
class AsTorch : public ::testing::Test {
 protected:
  static std::vector<PrunedTensor> weights() {
    return {{"a", file().tensors.at("a")}, {"b", file().tensors.at("b")}};
  }
  static std::vector<int> mask(const std::string& name) {
    const std::vector<std::uint8_t> bytes = elements_of<std::uint8_t>(file().tensors.at(name));
    return {bytes.begin(), bytes.end()};
  }
  static const Safetensors& file() {
    static const Safetensors golden =
        read_safetensors(test_data() / "passes/golden/pruning.safetensors");
    return golden;
  }
  static constexpr std::pair<double, const char*> kAmounts[] = {
      {0, "0.0"},   {0.05, "0.05"}, {0.1, "0.1"}, {0.25, "0.25"}, {0.3, "0.3"},
      {0.5, "0.5"}, {0.7, "0.7"},   {0.9, "0.9"}, {1, "1.0"}};
};

TEST_F(AsTorch, AreMasksOfEveryTensorByMagnitude) {
  for (const auto& [amount, name] : kAmounts) {
    const std::vector<Tensor> kept = kept_elements({.sparsity = amount}, weights());
    EXPECT_EQ(mask_elements(kept[0]), mask(fmt::format("l1.{}.a", name))) << amount;
    EXPECT_EQ(mask_elements(kept[1]), mask(fmt::format("l1.{}.b", name))) << amount;
  }
}

TEST_F(AsTorch, AreMasksUnderOneThreshold) {
  for (const auto& [amount, name] : kAmounts) {
    const std::vector<Tensor> kept =
        kept_elements({.sparsity = amount, .scope = PruneScope::global}, weights());
    EXPECT_EQ(mask_elements(kept[0]), mask(fmt::format("global.{}.a", name))) << amount;
    EXPECT_EQ(mask_elements(kept[1]), mask(fmt::format("global.{}.b", name))) << amount;
  }
}

TEST_F(AsTorch, IsTheNumberOfWeightsThatAreDrawn) {
  for (const auto& [amount, name] : kAmounts) {
    const std::vector<Tensor> kept =
        kept_elements({.sparsity = amount, .method = PruneMethod::random}, weights());
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<int> theirs = mask(fmt::format("random.{}.{}", name, i == 0 ? "a" : "b"));
      EXPECT_EQ(pruned_count(kept[i]), std::ranges::count(theirs, 0)) << amount;
    }
  }
}

// MASE prunes everything up to a quantile of the magnitudes. The expected masks come from MASE.
TEST(KeptElements, AsMaseAreAllAboveAQuantile) {
  const Json vectors = read_json(test_data() / "vectors/passes.json");
  int cases = 0;
  for (const Json& row : vectors) {
    const std::string pass = row["pass"];
    const auto rule = [](double sparsity) {
      return PruneRule{.sparsity = sparsity, .mode = PruneMode::mase};
    };
    if (pass == "prune_l1_local") {
      const std::vector<float> w = floats_in(row["in"]);
      EXPECT_EQ(kept_of(rule(row["sparsity"]), {std::ssize(w)}, w), booleans_in(row["mask"]))
          << row["sparsity"];
      std::vector<float> magnitudes = w;
      for (float& value : magnitudes) value = std::fabs(value);
      EXPECT_EQ(linear_quantile(magnitudes, row["sparsity"]),
                static_cast<float>(row["threshold"].get<double>()));
    } else if (pass == "prune_l1_global_weight") {
      PruneRule global = rule(row["sparsity"]);
      global.scope = PruneScope::global;
      std::vector<PrunedTensor> tensors;
      for (const char* name : {"w1", "w2"}) {
        const std::vector<float> w = floats_in(row["in"][name]);
        tensors.push_back({name, Tensor::of<float>({std::ssize(w)}, w)});
      }
      const std::vector<Tensor> kept = kept_elements(global, tensors);
      EXPECT_EQ(mask_elements(kept[0]), booleans_in(row["mask"]["w1"]));
      EXPECT_EQ(mask_elements(kept[1]), booleans_in(row["mask"]["w2"]));
    } else if (pass == "prune_l1_local_zero_count") {
      std::vector<float> distinct(row["n"].get<std::size_t>());
      for (std::size_t i = 0; i < distinct.size(); ++i) distinct[i] = static_cast<float>(i + 1);
      for (const Json& one : row["rows"])
        EXPECT_EQ(
            std::ranges::count(kept_of(rule(one["sparsity"]), {std::ssize(distinct)}, distinct), 0),
            one["zeros_if_all_distinct"].get<std::int64_t>())
            << row["n"] << " " << one["sparsity"];
    } else {
      continue;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 13);
}

TEST(KeptElements, OfEqualOnesTheFirstGo) {
  EXPECT_EQ(kept_of({.sparsity = 0.5}, {6}, {1, -1, 1, 1, 2, -1}),
            (std::vector<int>{0, 0, 0, 1, 1, 1}));
}

TEST(KeptElements, OfAPatternAreAsManyOfEveryGroup) {
  const PruneRule rule{.structure = {.pattern = NOfM{2, 4}}};
  EXPECT_EQ(kept_of(rule, {2, 8},
                    {4, -3, 2, 1, 0, 0, 0, 0,  //
                     -1, -2, -3, -4, 9, 1, 9, 1}),
            (std::vector<int>{1, 1, 0, 0, 0, 0, 1, 1,  //
                              0, 0, 1, 1, 1, 0, 1, 0}));
  EXPECT_EQ(kept_of({.structure = {.pattern = NOfM{1, 3}}}, {1, 6}, {1, 3, 2, 4, 5, 6}),
            (std::vector<int>{0, 1, 0, 0, 0, 1}));
}

TEST(KeptElements, OfWandaMagnitudesCountTimesTheNormsOfTheirInputs) {
  const std::vector<float> w = {1, -4, 3, 2, -1, 3}, norms = {10, 1, 2};  // scores 10 4 6 20 1 6
  const std::vector<PrunedTensor> tensors = {
      {"w", Tensor::of<float>({2, 3}, w), {}, Tensor::of<float>({3}, norms)}};
  const std::vector<Tensor> kept =
      kept_elements({.sparsity = 1.0 / 3, .method = PruneMethod::wanda}, tensors);
  EXPECT_EQ(mask_elements(kept[0]), (std::vector<int>{1, 0, 1, 1, 0, 1}));
  EXPECT_NE(message_of([&] {
              kept_of({.method = PruneMethod::wanda}, {2, 3}, w);
            }).find("--data"),
            std::string::npos);
}

// The second row has larger scores, but loses as many elements.
TEST(KeptElements, OfWandaEachRowLosesTheSameShare) {
  const std::vector<float> w = {1, 2, 3, 4, 50, 60, 80, 70}, ones = {1, 1, 1, 1};
  const auto kept = [&](const char* structure, PruneScope scope) {
    const PruneRule rule{.sparsity = 0.5,
                         .method = PruneMethod::wanda,
                         .scope = scope,
                         .structure = parse_structure(structure)};
    return mask_elements(kept_elements(
        rule, {{"w", Tensor::of<float>({2, 4}, w), {}, Tensor::of<float>({4}, ones)}})[0]);
  };
  EXPECT_EQ(kept("weights", PruneScope::local), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(kept("1x2", PruneScope::local), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(kept("2x1", PruneScope::local), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(kept("weights", PruneScope::global), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(KeptElements, OfFirstOrderMagnitudesCountTimesTheirGradients) {
  const std::vector<float> w = {1, -4, 3, 2}, gradients = {5, 1, 1, 0};  // scores 5 4 3 0
  const PruneRule rule{.sparsity = 0.5, .method = PruneMethod::first_order};
  EXPECT_EQ(
      mask_elements(kept_elements(
          rule,
          {{"w", Tensor::of<float>({2, 2}, w), {}, Tensor::of<float>({2, 2}, gradients)}})[0]),
      (std::vector<int>{1, 1, 0, 0}));
}

TEST(KeptElements, OfMovementScoresAloneCount) {
  const std::vector<float> w = {9, 8, 7, 6, 5, 4, 3, 2}, scores = {-3, 2, -1, 0, 1, 4, -2, -9};
  const auto kept = [&](const PruneRule& rule, const Tensor& before = {}) {
    PruneRule by_scores = rule;
    by_scores.method = PruneMethod::movement;
    return mask_elements(kept_elements(by_scores, {{"w", Tensor::of<float>({2, 4}, w), before,
                                                    Tensor::of<float>({2, 4}, scores)}})[0]);
  };
  EXPECT_EQ(kept({.sparsity = 0.5}), (std::vector<int>{0, 1, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(kept({.structure = parse_structure("2:4")}),
            (std::vector<int>{0, 1, 0, 1, 1, 1, 0, 0}));
  // Block means are -0.5, -0.5, 2.5 and -5.5. Of equal ones the first is removed.
  EXPECT_EQ(kept({.sparsity = 0.5, .structure = parse_structure("1x2")}),
            (std::vector<int>{0, 0, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(kept({.sparsity = 0.25, .structure = parse_structure("2x1")}),
            (std::vector<int>{1, 1, 1, 0, 1, 1, 1, 0}));
  // Removed elements rank below the lowest score.
  EXPECT_EQ(kept({.sparsity = 0.25}, booleans({2, 4}, {1, 1, 1, 1, 1, 0, 1, 1})),
            (std::vector<int>{1, 1, 1, 1, 1, 0, 1, 0}));
}

TEST(KeptElements, OfAPatternTheLowestGoFirstUntilAllIsReached) {
  const std::vector<float> w = {4, 3, 2, 1, 9, 8, 7, 6};
  const auto kept = [&](double reached) {
    return kept_of({.reached = reached, .structure = {.pattern = NOfM{2, 4}}}, {1, 8}, w);
  };
  EXPECT_EQ(kept(0), (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(kept(0.5), (std::vector<int>{1, 1, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(kept(0.75), (std::vector<int>{1, 1, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(kept(1), (std::vector<int>{1, 1, 0, 0, 1, 1, 0, 0}));
}

TEST(KeptElements, OfBlocksAllOrNothingIsKept) {
  const std::vector<float> w = {1, 9, 2, 2,  //
                                0, 0, 3, 3,  //
                                8, 0, 1, 0};
  EXPECT_EQ(kept_of({.sparsity = 0.5, .structure = {.block = {1, 2}}}, {3, 4}, w),
            (std::vector<int>{1, 1, 0, 0,  //
                              0, 0, 1, 1,  //
                              1, 1, 0, 0}));
  // Three rows form a block of two and a block of one, with means 0.5, 4.5, 2.5, 2.5 and 8, 0, 1, 0.
  EXPECT_EQ(kept_of({.sparsity = 0.5, .structure = {.block = {2, 1}}}, {3, 4}, w),
            (std::vector<int>{0, 1, 1, 1,  //
                              0, 1, 1, 1,  //
                              1, 0, 0, 0}));
  // Removed elements count: their block is removed first, and they stay removed if the block is kept.
  const Tensor before = booleans({3, 4}, {1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1});
  EXPECT_EQ(kept_of({.sparsity = 1.0 / 6, .structure = {.block = {1, 2}}}, {3, 4}, w, before),
            (std::vector<int>{1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}));
}

TEST(KeptElements, WhatIsGoneStaysGoneAndCounts) {
  const Tensor before = booleans({4}, {1, 1, 1, 0});
  EXPECT_EQ(kept_of({.sparsity = 0.5}, {4}, {3, 2, 1, 9}, before), (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(kept_of({.sparsity = 0}, {4}, {3, 2, 1, 9}, before), (std::vector<int>{1, 1, 1, 0}));
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(kept_of({.sparsity = 0.25, .method = PruneMethod::random, .seed = seed}, {4},
                      {3, 2, 1, 9}, before),
              (std::vector<int>{1, 1, 1, 0}));
}

TEST(KeptElements, DrawnAreTheSameBySeedAndMoreOfThemTheMoreGo) {
  const std::vector<float> w(100, 1);
  const auto drawn = [&](double sparsity, std::uint64_t seed) {
    return kept_of({.sparsity = sparsity, .method = PruneMethod::random, .seed = seed}, {100}, w);
  };
  const std::vector<int> half = drawn(0.5, 7), more = drawn(0.8, 7);
  EXPECT_EQ(half, drawn(0.5, 7));
  EXPECT_NE(half, drawn(0.5, 8));
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_LE(more[i], half[i]);
}

TEST(KeptElements, SaysWhatDoesNotGoTogether) {
  const auto message = [](const PruneRule& rule) {
    return message_of([&] { kept_of(rule, {1, 6}, {1, 2, 3, 4, 5, 6}); });
  };
  EXPECT_EQ(message({.sparsity = 1.5}), "`sparsity`: expected a share from 0 to 1, got 1.5");
  EXPECT_EQ(message({.method = PruneMethod::random, .mode = PruneMode::mase}),
            "`mode` mase is a quantile of magnitudes: it requires `method` l1 and "
            "`structure` weights");
  EXPECT_EQ(message({.scope = PruneScope::global, .structure = {.pattern = NOfM{2, 4}}}),
            "`structure` 2:4 keeps the same number of weights in every group, so `scope` "
            "must be local");
  EXPECT_EQ(message({.method = PruneMethod::sparsegpt, .scope = PruneScope::global}),
            "`method` sparsegpt compares the errors that weights cause within their layer, so "
            "`scope` must be local");
  for (const PruneMethod method : {PruneMethod::wanda, PruneMethod::first_order,
                                   PruneMethod::movement, PruneMethod::sparsegpt})
    EXPECT_NE(message({.method = method}).find("use `hone prune"), std::string::npos);
  EXPECT_EQ(message({.structure = {.pattern = NOfM{2, 4}}}),
            "w: rows of 6 weights do not divide into groups of 4; exclude it from "
            "`target`, or use another `structure`");
}

TEST(KeptElements, AreChosenByWords) {
  EXPECT_EQ(message_of([] { parse_prune_method("l2"); }),
            "expected random, l1, wanda, first_order, movement or sparsegpt, got 'l2'");
  EXPECT_EQ(parse_prune_scope("global"), PruneScope::global);
  EXPECT_EQ(structure_text(parse_structure("weights")), "weights");
  EXPECT_EQ(structure_text(parse_structure("4x1")), "4x1");
  EXPECT_EQ(structure_text(parse_structure("1x1")), "weights");
  EXPECT_EQ(structure_text(parse_structure("2:4")), "2:4");
  for (const char* text : {"4:2", "0:4", "2:", "heads", "4:4", "-1:4", "0x4", "4x", "x1"})
    EXPECT_EQ(message_of([&] { parse_structure(text); }),
              fmt::format("expected weights; N:M with 0 < N < M, such as 2:4, which keeps 2 of "
                          "every 4 weights of a row; or blocks of rows by columns, such as 4x1; "
                          "got '{}'",
                          text));
}

}  // namespace
}  // namespace hone::testing
