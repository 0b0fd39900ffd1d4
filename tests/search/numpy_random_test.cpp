#include "hone/search/numpy_random.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/search/samplers/sampler_random.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

TEST(NumpyRandom, DrawsAndShufflesAsNumpy) {
  const Json vectors = read_json(test_data() / "vectors/search/parzen_5.0.0.json")["rng"];
  for (const std::uint32_t seed : {0u, 42u}) {
    NumpyRandom random(seed);
    for (const Json& number : vectors[fmt::format("random_sample_seed{}_5", seed)])
      EXPECT_EQ(random.uniform(), number.get<double>());
    std::vector<int> items(12);
    std::iota(items.begin(), items.end(), 0);
    NumpyRandom(seed).shuffle(items);
    EXPECT_EQ(Json(items), vectors[fmt::format("shuffle12_seed{}", seed)]);
  }
  // RandomState(0).choice of 300 items, from numpy 2.4.
  NumpyRandom random(0);
  for (const std::uint32_t index : {172u, 47u, 117u, 192u, 251u, 195u, 9u, 211u})
    EXPECT_EQ(random.up_to(299), index);
}

TEST(SamplerRandom, CountersDependOnWhatIsNamedAlone) {
  SamplerRandom random(1, false);
  const double first = random.numbers_for(3, "random", "x")();
  EXPECT_NE(first, random.numbers_for(3, "random", "y")());
  EXPECT_NE(first, random.numbers_for(3, "tpe", "x")());
  EXPECT_NE(first, random.numbers_for(4, "random", "x")());
  EXPECT_NE(first, SamplerRandom(2, false).numbers_for(3, "random", "x")());
  EXPECT_EQ(first, SamplerRandom(1, false).numbers_for(3, "random", "x")());
}

TEST(SamplerRandom, RefusesSeedsThatNumpyDoesNotTake) {
  try {
    SamplerRandom(std::uint64_t{1} << 32, true);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "seed 4294967296: numpy's random numbers take seeds from 0 to 4294967295");
  }
}

}  // namespace
}  // namespace hone
