#include "hone/search/isotonic.h"

namespace hone {

std::vector<double> isotonic_fit(std::span<const double> values) {
  struct Pool {
    double sum = 0, count = 0;
    double mean() const { return sum / count; }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> fit;
  for (const Pool& pool : pools)
    fit.insert(fit.end(), static_cast<std::size_t>(pool.count), pool.mean());
  return fit;
}

}  // namespace hone
