#include "tests/formats/backward_testing.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>

#include "hone/base/random.h"
#include "tests/formats/formats_testing.h"

namespace hone::testing {
namespace {

// Allocates tensors for the gradients of the learned states.
std::vector<Tensor> gradient_tensors(const Format& format, const std::vector<Tensor>& state) {
  const std::vector<FormatStateDef> defs = states_of(format);
  std::vector<Tensor> gradients(defs.size());
  for (std::size_t i = 0; i < defs.size(); ++i)
    if (defs[i].learned) gradients[i] = Tensor::zeros(DType::f32, state[i].sizes());
  return gradients;
}

void expect_same_bits(std::span<const float> got, std::span<const float> expected,
                      const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << what << ": element " << i << ", " << got[i] << " against " << expected[i];
}

void expect_same_gradients(const FormatGradients& got, const FormatGradients& expected,
                           const std::string& what) {
  expect_same_bits(got.dx, expected.dx, what + ", dx");
  for (std::size_t i = 0; i < got.state.size(); ++i) {
    ASSERT_EQ(got.state[i].defined(), expected.state[i].defined()) << what;
    if (got.state[i].defined())
      expect_same_bits(got.state[i].values<float>(), expected.state[i].values<float>(),
                       what + ", state");
  }
}

std::vector<float> error_slopes(const std::vector<float>& x, const std::vector<float>& y,
                                double& error) {
  std::vector<float> dy(x.size());
  error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(y[i]) - x[i];
    error += difference * difference / static_cast<double>(x.size());
    dy[i] = static_cast<float>(2 * difference / static_cast<double>(x.size()));
  }
  return dy;
}

}  // namespace

FormatGradients gradients_of(std::string_view format, const std::vector<float>& x,
                             const Sizes& sizes, const std::vector<Tensor>& state,
                             const std::vector<float>& dy, int threads) {
  const Format parsed = format_of(format);
  ThreadPool pool(threads);
  FormatGradients gradients{std::vector<float>(x.size()), gradient_tensors(parsed, state)};
  parsed.def->backward({parsed, sizes, x, state}, pool, dy, gradients.dx, gradients.state);
  return gradients;
}

std::vector<float> normal_values(std::size_t count, double scale) {
  RandomSequence random(7, stream_of("normal format values"));
  std::vector<float> values(count);
  for (float& value : values) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    value = static_cast<float>(scale * radius * std::cos(2 * M_PI * random.uniform()));
  }
  return values;
}

void check_backward(std::string_view format, const std::vector<float>& x, const Sizes& sizes) {
  const std::vector<Tensor> state = calibrated_state(format, x, sizes);
  const std::vector<float> dy = normal_values(x.size());
  const FormatGradients expected = gradients_of(format, x, sizes, state, dy);
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const int threads : {1, 3}) {
      expect_same_gradients(
          gradients_of(format, x, sizes, state, dy, threads), expected,
          fmt::format("{} by {}, {} threads", format, hwy::TargetName(target), threads));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  const Format parsed = format_of(format);
  ThreadPool pool(2);
  FormatGradients in_place{dy, gradient_tensors(parsed, state)};
  parsed.def->backward({parsed, sizes, x, state}, pool, in_place.dx, in_place.dx, in_place.state);
  expect_same_gradients(in_place, expected, fmt::format("{} in place", format));
}

Descent descend(std::string_view format, const std::vector<float>& x, const Sizes& sizes,
                const std::vector<Tensor>& start, double rate, int steps) {
  std::vector<Tensor> state;
  for (const Tensor& tensor : start) state.push_back(tensor.contiguous_copy());
  Descent descent;
  for (int step = 0; step <= steps; ++step) {
    const std::vector<float> dy =
        error_slopes(x, by_reference(format, x, sizes, state), descent.after);
    if (step == 0) descent.before = descent.after;
    const FormatGradients gradients = gradients_of(format, x, sizes, state, dy);
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (!gradients.state[i].defined()) continue;
      const std::span<float> values = state[i].values<float>();
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] -= static_cast<float>(rate * gradients.state[i].values<float>()[k]);
    }
  }
  return descent;
}

}  // namespace hone::testing
