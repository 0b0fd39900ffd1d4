#include <cmath>

#include "hone/kernels/pooling.h"
#include "hone/ops/convolution_rules.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, c, i, j] = the largest of x[b, c, i stride - padding + u, j stride - padding + v] within the image,
// u, v < kernel. The gradient goes to the first of equal maxima. NaN counts as larger than all numbers.
namespace hone::ops {
namespace {

kernels::PoolingShape pooling_shape(const Sizes& x, const Attributes& attributes) {
  return {.planes = x[0] * x[1],
          .height = x[2],
          .width = x[3],
          .kernel = attributes.get<std::int64_t>("kernel"),
          .stride = attributes.get<std::int64_t>("stride"),
          .padding = attributes.get<std::int64_t>("padding")};
}

std::vector<Type> infer(const TypeContext& context) {
  const Type& x = context.inputs[0];
  expect_images(x, "x");
  const Attribute* const kernel = context.attributes.find("kernel");
  user_check(std::holds_alternative<std::int64_t>(*kernel), "kernel must be a whole number");
  const kernels::PoolingShape shape =
      pooling_shape({1, x.dim(1).size, x.dim(2).size, x.dim(3).size}, context.attributes);
  user_check(shape.kernel >= 1 && shape.stride >= 1,
             "kernel and stride must be 1 or more, got {} and {}", shape.kernel, shape.stride);
  // Otherwise some window would be empty.
  user_check(shape.padding >= 0 && 2 * shape.padding <= shape.kernel,
             "padding must be from 0 to half the kernel, {}, got {}", shape.kernel / 2,
             shape.padding);
  user_check(shape.result_height() >= 1 && shape.result_width() >= 1,
             "the window of {} is larger than the padded images {}", shape.kernel, to_string(x));
  return {{x.dtype, {x.dim(0), x.dim(1), shape.result_height(), shape.result_width()}}};
}

// Calls body(result, largest) with the offset of each result, and of the first maximum of its window.
template <typename Body>
void for_each_window(const Tensor& x, const kernels::PoolingShape& s, Body&& body) {
  std::int64_t y = 0;
  for (std::int64_t plane = 0; plane < s.planes; ++plane)
    for (std::int64_t i = 0; i < s.result_height(); ++i)
      for (std::int64_t j = 0; j < s.result_width(); ++j, ++y) {
        std::int64_t best = -1;
        for (std::int64_t u = 0; u < s.kernel; ++u)
          for (std::int64_t v = 0; v < s.kernel; ++v) {
            const std::int64_t row = i * s.stride - s.padding + u,
                               column = j * s.stride - s.padding + v;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            const std::int64_t at = (plane * s.height + row) * s.width + column;
            const float value = x.data<float>()[at];
            if (best < 0 || value > x.data<float>()[best] || std::isnan(value)) best = at;
          }
        body(y, best);
      }
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0));
  float* const y = call.output().data<float>();
  for_each_window(
      x, pooling_shape(x.sizes(), call.attributes),
      [&](std::int64_t result, std::int64_t largest) { y[result] = x.data<float>()[largest]; });
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const Type y = infer(context)[0];
  user_check(context.inputs[1] == y, "dy must be {}, got {}", to_string(y),
             to_string(context.inputs[1]));
  return {context.inputs[0]};
}

void backward(Call& call) {
  const Tensor x = reference::dense(call.input(0)), dy = reference::dense(call.input(1));
  std::vector<double> sums(static_cast<std::size_t>(x.count()));
  for_each_window(
      x, pooling_shape(x.sizes(), call.attributes), [&](std::int64_t result, std::int64_t largest) {
        sums[static_cast<std::size_t>(largest)] += static_cast<double>(dy.data<float>()[result]);
      });
  reference::store(sums, call.output());
}

Attributes attributes() {
  return {{"kernel", {}}, {"stride", std::int64_t{1}}, {"padding", std::int64_t{0}}};
}

}  // namespace

std::vector<OpDef> max_pool2d() {
  return {{.name = "max_pool2d",
           .summary = "y (B, C, OH, OW) = the largest of a window that moves over x (B, C, H, W)",
           .inputs = {"x"},
           .attributes = attributes(),
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("max_pool2d_gradient", {c.input(0), c.output_gradient()},
                           c.node.attributes())};
           },
           .flops = one_per_element},
          {.name = "max_pool2d_gradient",
           .summary = "dx of max_pool2d, at the first largest value of each window",
           .inputs = {"x", "dy"},
           .attributes = attributes(),
           .infer = infer_gradient,
           .reference = backward,
           .flops = one_per_element}};
}

}  // namespace hone::ops
