#include <fmt/format.h>

#include <algorithm>

#include "hone/data/synthetic.h"

namespace hone {
namespace {

constexpr double kStop =
    0.25;  // probability of stopping at each step: P(difference <= 8) = 1 - 0.75^8 = 0.9
constexpr std::uint64_t kMaxDifference = 99;

std::uint64_t draw_difference(RandomSequence& random) {
  std::uint64_t difference = 1;
  while (difference < kMaxDifference && random.uniform() >= kStop) ++difference;
  return difference;
}

}  // namespace

Example make_compare(const Lexicon& lexicon, RandomSequence& random) {
  const std::uint64_t difference = draw_difference(random);
  const std::uint64_t low = random.below(100 - difference);
  const bool first_greater = random.below(2) == 1;
  std::uint64_t numbers[2] = {low, low + difference};
  if (first_greater) std::swap(numbers[0], numbers[1]);

  const std::uint64_t fillers = 8 + random.below(17);
  std::uint64_t places[2] = {random.below(fillers + 1), random.below(fillers + 1)};
  if (places[0] > places[1]) std::swap(places[0], places[1]);
  std::string text;
  for (std::uint64_t at = 0; at <= fillers; ++at) {
    for (int i = 0; i < 2; ++i) {
      if (places[i] == at) text += fmt::format("{:02d} ", numbers[i]);  // two digits, two tokens
    }
    if (at < fillers) text += pick(lexicon.fillers, random) + ' ';
  }
  text.pop_back();
  return {std::move(text), first_greater};
}

}  // namespace hone
