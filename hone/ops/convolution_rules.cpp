#include "hone/ops/convolution_rules.h"

#include "hone/ops/rules.h"

namespace hone::ops {

Attributes convolution_attributes() {
  return {{"stride", std::int64_t{1}},
          {"padding", std::int64_t{0}},
          {"dilation", std::int64_t{1}},
          {"groups", std::int64_t{1}}};
}

void expect_images(const Type& type, std::string_view what) {
  expect_float(type, what);
  expect_rank(type, 4, what);
  for (const std::int64_t axis : {1, 2, 3})
    user_check(type.dim(axis).symbol == 0 && type.dim(axis).size >= 1,
               "{} must have known channels, height and width, got {}", what, to_string(type));
}

Type convolution_result(const Type& x, const Type& weight, const Attributes& attributes) {
  expect_images(x, "x");
  expect_dtype(weight, x.dtype, "weight");
  expect_rank(weight, 4, "weight");
  const Sizes sizes = constant_sizes(weight.shape);
  const auto attribute = [&](const char* name, std::int64_t least) {
    const std::int64_t value = attributes.get<std::int64_t>(name);
    constexpr std::int64_t kMost = 1 << 16;
    user_check(value >= least && value <= kMost, "{} must be from {} to {}, got {}", name, least,
               kMost, value);
    return value;
  };
  attribute("stride", 1);
  attribute("padding", 0);
  attribute("dilation", 1);
  const std::int64_t groups = attribute("groups", 1), channels = x.dim(1).size;
  user_check(channels % groups == 0 && sizes[0] % groups == 0,
             "groups must divide the {} channels of x and the {} of the result, got {}", channels,
             sizes[0], groups);
  expect_equal(weight.dim(1), Dim(channels / groups), "channels of the weight");
  const kernels::ConvolutionShape shape =
      convolution_shape({1, channels, x.dim(2).size, x.dim(3).size}, sizes, attributes);
  user_check(shape.result_height() >= 1 && shape.result_width() >= 1,
             "the weight {} is larger than the padded images {}", to_string(weight), to_string(x));
  return {x.dtype, {x.dim(0), sizes[0], shape.result_height(), shape.result_width()}};
}

kernels::ConvolutionShape convolution_shape(const Sizes& x, const Sizes& weight,
                                            const Attributes& attributes) {
  return {.batch = x[0],
          .channels = x[1],
          .height = x[2],
          .width = x[3],
          .outputs = weight[0],
          .kernel_height = weight[2],
          .kernel_width = weight[3],
          .stride = attributes.get<std::int64_t>("stride"),
          .padding = attributes.get<std::int64_t>("padding"),
          .dilation = attributes.get<std::int64_t>("dilation"),
          .groups = attributes.get<std::int64_t>("groups")};
}

}  // namespace hone::ops
