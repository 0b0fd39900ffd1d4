#include "hone/kernels/winograd.h"

#include <algorithm>

#include "tests/kernels/kernel_testing.h"

// The kernel cases of tests/runtime compare forward and backward with the reference, for all kinds of sizes. These
// tests cover the rest.
namespace hone::kernels {
namespace {

using Floats = std::vector<float>;

ConvolutionShape shape_of(std::int64_t batch, std::int64_t channels, std::int64_t height,
                          std::int64_t width, std::int64_t outputs) {
  return {.batch = batch,
          .channels = channels,
          .height = height,
          .width = width,
          .outputs = outputs,
          .kernel_height = 3,
          .kernel_width = 3,
          .padding = 1};
}

struct Inputs {
  Floats x, weight;

  explicit Inputs(const ConvolutionShape& s)
      : x(random_floats(s.batch * s.channels * s.height * s.width, 1)),
        weight(random_floats(s.outputs * s.depth(), 2)) {}
};

Floats result_for(const ConvolutionShape& s) {
  return Floats(
      static_cast<std::size_t>(s.batch * s.outputs * s.result_height() * s.result_width()));
}

// A weight packed for the kernel, aligned to a cache line.
class Packed {
 public:
  explicit Packed(std::size_t floats) : floats_(floats + 16) {}
  float* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(floats_.data());
    return floats_.data() + (64 - address % 64) % 64 / sizeof(float);
  }

 private:
  Floats floats_;
};

Floats by_winograd(ThreadPool& pool, const ConvolutionShape& s, const Floats& x,
                   const Floats& weight) {
  Floats y = result_for(s);
  Packed packed(winograd_packed_floats(s));
  winograd_pack(pool, s, weight.data(), packed.data());
  winograd_convolution(pool, s, x.data(), packed.data(), y.data());
  return y;
}

Floats by_definition(ThreadPool& pool, const ConvolutionShape& s, const Floats& x,
                     const Floats& weight) {
  Floats y = result_for(s);
  Packed packed(convolution_packed_floats(s));
  convolution_pack(pool, s, weight.data(), packed.data());
  convolution(pool, s, x.data(), packed.data(), y.data());
  return y;
}

std::vector<double> exact(const ConvolutionShape& s, const Inputs& inputs) {
  std::vector<double> y(result_for(s).size());
  auto to = y.begin();
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.outputs; ++o)
      for (std::int64_t i = 0; i < s.result_height(); ++i)
        for (std::int64_t j = 0; j < s.result_width(); ++j, ++to)
          for (std::int64_t c = 0; c < s.channels; ++c)
            for (std::int64_t u = 0; u < 3; ++u)
              for (std::int64_t v = 0; v < 3; ++v) {
                const std::int64_t row = i + u - s.padding, column = j + v - s.padding;
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                const auto at_x = ((n * s.channels + c) * s.height + row) * s.width + column,
                           at_weight = ((o * s.channels + c) * 3 + u) * 3 + v;
                *to += static_cast<double>(inputs.x[static_cast<std::size_t>(at_x)]) *
                       static_cast<double>(inputs.weight[static_cast<std::size_t>(at_weight)]);
              }
  return y;
}

double root_mean_square_error(const Floats& y, const std::vector<double>& wanted) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    sum += std::pow(static_cast<double>(y[i]) - wanted[i], 2);
  return std::sqrt(sum / static_cast<double>(y.size()));
}

TEST(Winograd, ErrsAsTheDefinitionDoesOnValuesOfMixedSigns) {
  ThreadPool pool(2);
  const ConvolutionShape shape = shape_of(2, 64, 14, 14, 32);
  const Inputs inputs(shape);
  const std::vector<double> wanted = exact(shape, inputs);
  for_each_target([&] {
    const double by_fewer = root_mean_square_error(
                     by_winograd(pool, shape, inputs.x, inputs.weight), wanted),
                 by_all = root_mean_square_error(
                     by_definition(pool, shape, inputs.x, inputs.weight), wanted);
    EXPECT_GT(by_fewer, 0);
    EXPECT_LT(by_fewer, 1.5 * by_all);
  });
}

TEST(Winograd, AnImageHasTheSameBitsAloneAndAmongOthers) {
  ThreadPool pool(2);
  const ConvolutionShape all = shape_of(5, 20, 7, 9, 40), one = shape_of(1, 20, 7, 9, 40);
  const Inputs inputs(all);
  const Floats together = by_winograd(pool, all, inputs.x, inputs.weight);
  Floats alone;
  const auto image = static_cast<std::ptrdiff_t>(inputs.x.size() / 5);
  for (std::ptrdiff_t n = 0; n < 5; ++n) {
    const auto begin = inputs.x.begin() + n * image;
    const Floats y = by_winograd(pool, one, Floats(begin, begin + image), inputs.weight);
    alone.insert(alone.end(), y.begin(), y.end());
  }
  EXPECT_TRUE(same_bits(alone, together));
}

TEST(Winograd, ThreadsAndWidthsOfVectorsChangeNothing) {
  ThreadPool one(1), three(3);
  const ConvolutionShape shape = shape_of(3, 33, 10, 35, 97);
  const Inputs inputs(shape);
  Floats first;
  for_each_target(
      [&] {
        const Floats y = by_winograd(one, shape, inputs.x, inputs.weight);
        EXPECT_TRUE(same_bits(y, by_winograd(three, shape, inputs.x, inputs.weight)));
        if (first.empty()) first = y;
        EXPECT_TRUE(same_bits(y, first));
      },
      kFusedTargets);
}

TEST(Winograd, SaysWhatItDoesNotCompute) {
  const ConvolutionShape fits = shape_of(1, 16, 8, 8, 16);
  EXPECT_EQ(winograd_unsupported_reason(fits), "");
  EXPECT_EQ(winograd_input_gradient_unsupported_reason(fits), "");
  const auto changed = [&](auto change) {
    ConvolutionShape shape = fits;
    change(shape);
    return winograd_unsupported_reason(shape);
  };
  EXPECT_NE(changed([](ConvolutionShape& s) { s.kernel_width = 1; }), "");
  EXPECT_NE(changed([](ConvolutionShape& s) { s.kernel_height = 5; }), "");
  EXPECT_NE(changed([](ConvolutionShape& s) { s.stride = 2; }), "");
  EXPECT_NE(changed([](ConvolutionShape& s) { s.dilation = 2; }), "");
  EXPECT_NE(changed([](ConvolutionShape& s) { s.groups = 2; }), "");
  EXPECT_NE(changed([](ConvolutionShape& s) { s.channels = 3; }), "");
  // Input gradients sum over outputs, so their number must be large enough.
  EXPECT_NE(winograd_input_gradient_unsupported_reason(shape_of(1, 16, 8, 8, 3)), "");
  EXPECT_EQ(winograd_unsupported_reason(shape_of(1, 16, 8, 8, 3)), "");
  EXPECT_EQ(winograd_input_gradient_unsupported_reason(shape_of(1, 3, 8, 8, 16)), "");
  ConvolutionShape wide = fits;
  wide.padding = 3;
  EXPECT_EQ(winograd_unsupported_reason(wide), "");
  EXPECT_NE(winograd_input_gradient_unsupported_reason(wide), "");
}

}  // namespace
}  // namespace hone::kernels
