#include "hone/jobs/search/study_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace hone {
namespace {

// A study of an integer parameter with the given values. The objective increases with it.
struct SlicedStudy {
  std::deque<Trial> trials;
  DescribedStudy shown = {.view = {.name = "search", .directions = {Direction::maximize}},
                          .objectives = {"accuracy"}};

  explicit SlicedStudy(const std::vector<double>& values) {
    const Distribution distribution{
        .kind = DistributionKind::integer, .low = 0, .high = 1000, .step = 1};
    for (const double value : values) {
      trials.push_back({.number = std::ssize(trials),
                        .state = TrialState::complete,
                        .values = {value / 1000},
                        .parameters = {{"hidden_size", distribution, value}}});
      shown.view.trials.push_back(&trials.back());
    }
    find_importances(shown);
  }

  std::vector<double> ticks() const {
    const std::vector<StudyFigure> figures = study_figures(shown);
    const auto slice = std::ranges::find(figures, "slice", &StudyFigure::name);
    std::vector<double> ticks;
    if (slice == figures.end()) return {kNoValue};
    for (const Tick& tick : slice->figure.panels.at(0).x.ticks) ticks.push_back(tick.value);
    return ticks;
  }
};

TEST(StudyFigures, SlicesHaveTicksAtTheTestedValuesWhereTheseAreFew) {
  EXPECT_EQ(SlicedStudy({128, 64, 64, 128, 256}).ticks(), (std::vector<double>{64, 128, 256}));
  EXPECT_EQ(SlicedStudy({1, 2, 3, 4, 5, 6, 7}).ticks(), std::vector<double>());
}

}  // namespace
}  // namespace hone
