// Times the exact front of 400 layers with six bit widths each, on one thread: the minimum and median of ROUNDS rounds.
//
//     allocation_bench ROUNDS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "hone/base/random.h"
#include "hone/search/allocation.h"

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  const int sizes[] = {1, 1, 1, 4, 4}, bits[] = {2, 3, 4, 6, 8, 16};
  hone::RandomSequence random(5, 0);
  hone::AllocationProblem problem;
  problem.layers.resize(400);
  for (auto& options : problem.layers) {
    const int size = sizes[random.below(5)];
    const double sensitivity = std::exp(1.5 * random.normal());
    for (const int b : bits) options.push_back({sensitivity * std::pow(4.0, -b), size * b});
  }
  std::vector<double> times;
  std::size_t points = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    points = hone::allocation_front(problem).points.size();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::sort(times);
  fmt::print("{} layers, {} points: {:.2f} ms at least, {:.2f} ms in the median of {} rounds\n",
             problem.layers.size(), points, times.front(), times[times.size() / 2], rounds);
}
