#include "hone/search/samplers/non_domination.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/base/random.h"
#include "hone/search/python_json.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

TEST(NonDomination, EqualsOptunas) {
  const fs::path path = test_data() / "vectors/search/mo_5.0.0.json";
  const Json vectors = parse_python_json(read_file(path), path.string());
  for (const Json& vector : vectors["cases"]) {
    const auto losses = vector["loss"].get<LossVectors>();
    const std::vector<std::int64_t> ranks = non_domination_ranks(losses, losses.size());
    EXPECT_EQ(Json(ranks), vector["rank"]);
    const std::vector<double> reference = reference_point(losses);
    EXPECT_EQ(Json(reference), vector["ref"]);
    LossVectors front;
    for (std::size_t i = 0; i < losses.size(); ++i)
      if (ranks[i] == 0) front.push_back(losses[i]);
    const double volume = vector["front_hypervolume"];
    EXPECT_NEAR(hypervolume(front, reference), volume, 1e-12 * std::max(1.0, volume));
    EXPECT_EQ(Json(largest_hypervolume_subset(front, vector["hssp_k"], reference)),
              vector["hssp_selected_front_indices"]);
  }
}

TEST(NonDomination, RanksNoMoreThanIsAskedFor) {
  const LossVectors points = {{3, 3}, {0, 1}, {1, 0}, {1, 1}, {0, 1}, {2, 2}};
  EXPECT_EQ(non_domination_ranks(points, 6), (std::vector<std::int64_t>{3, 0, 0, 1, 0, 2}));
  EXPECT_EQ(non_domination_ranks(points, 3), (std::vector<std::int64_t>{2, 0, 0, 1, 0, 2}));
}

// Compares with the share of random points in the box that any point dominates, within five standard deviations.
TEST(NonDomination, VolumesAreWhatDrawnPointsSay) {
  RandomSequence random(1, 0);
  for (const std::size_t objectives : {2u, 3u, 4u, 5u}) {
    LossVectors points;
    for (int i = 0; i < 12; ++i) {
      points.emplace_back();
      for (std::size_t k = 0; k < objectives; ++k) points.back().push_back(random.uniform());
    }
    constexpr int kDraws = 20000;
    int dominated = 0;
    for (int i = 0; i < kDraws; ++i) {
      std::vector<double> drawn;
      for (std::size_t k = 0; k < objectives; ++k) drawn.push_back(random.uniform());
      dominated += std::any_of(points.begin(), points.end(), [&](const auto& point) {
        for (std::size_t k = 0; k < objectives; ++k)
          if (point[k] > drawn[k]) return false;
        return true;
      });
    }
    const double share = static_cast<double>(dominated) / kDraws;
    EXPECT_NEAR(hypervolume(points, std::vector<double>(objectives, 1.0)), share,
                5 * std::sqrt(0.25 / kDraws));
  }
}

TEST(NonDomination, SubsetsTakeThePointThatAddsMost) {
  RandomSequence random(2, 0);
  for (const std::size_t objectives : {2u, 3u, 4u}) {
    LossVectors points;
    for (int i = 0; i < 15; ++i) {
      points.emplace_back();
      for (std::size_t k = 0; k < objectives; ++k) points.back().push_back(random.uniform());
    }
    const std::vector<double> reference = reference_point(points);
    LossVectors taken;
    for (const std::size_t choice : largest_hypervolume_subset(points, 6, reference)) {
      double most = 0, here = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        taken.push_back(points[i]);
        const double volume = hypervolume(taken, reference);
        taken.pop_back();
        most = std::max(most, volume);
        if (i == choice) here = volume;
      }
      EXPECT_NEAR(here, most, 1e-12);
      taken.push_back(points[choice]);
    }
  }
}

TEST(NonDomination, SubsetsOfEqualAndEndlessPoints) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const LossVectors equal = {{1, 2}, {1, 2}, {2, 1}, {1, 2}};
  EXPECT_EQ(largest_hypervolume_subset(equal, 3, reference_point(equal)),
            (std::vector<std::size_t>{0, 2, 1}));
  const LossVectors endless = {{kEndless, 0}, {1, 1}, {0, 3}};
  EXPECT_EQ(hypervolume(endless, reference_point(endless)), kEndless);
  EXPECT_EQ(largest_hypervolume_subset(endless, 2, reference_point(endless)),
            (std::vector<std::size_t>{2, 1}));
  const LossVectors bottomless = {{-kEndless, 0}, {0, -1}, {-1, -0.5}};
  EXPECT_EQ(largest_hypervolume_subset(bottomless, 2, {1, 1}).size(), 2u);
}

TEST(NonDomination, PointsWeighByWhatIsLostWithoutThem) {
  // The reference point is (3.3, 3.3). The last point is dominated; the others lose 0.3 · 1, 1 · 1 and 1 · 0.3.
  const std::vector<double> weights = hypervolume_weights({{1, 3}, {2, 2}, {3, 1}, {3, 3}});
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_NEAR(weights[0], 0.3, 1e-12);
  EXPECT_EQ(weights[1], 1);
  EXPECT_NEAR(weights[2], 0.3, 1e-12);
  EXPECT_EQ(weights[3], 1e-12);
  EXPECT_EQ(hypervolume_weights({{1, 3}}), std::vector<double>{1});
}

}  // namespace
}  // namespace hone
