#pragma once

#include <vector>

#include "hone/study/measure.h"

namespace hone::testing {

// Returns the results of one seed for each element of `found`, the number of texts of the first class, of two, that it
// predicts correctly. It predicts both of the second class correctly.
inline std::vector<Json> seeds_that_find(const std::vector<int>& found) {
  static const std::vector<std::int32_t> labels = {0, 0, 1, 1};
  std::vector<Json> results;
  for (const int right : found) {
    Measurement measured{.logits = {}, .outputs = 2, .evaluation = {}, .seconds = 1};
    for (int text = 0; text < 4; ++text) {
      const bool first = text < right;
      measured.logits.insert(measured.logits.end(), {first ? 1.0f : 0.0f, first ? 0.0f : 1.0f});
    }
    measured.evaluation = evaluate(measured.view(), {.classes = labels});
    results.push_back(
        {{"seed", 42}, {"test", to_json(evaluation_result(measured, {"negative", "positive"}))}});
  }
  return results;
}

}  // namespace hone::testing
