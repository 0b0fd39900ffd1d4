#include "tests/runtime/image_kernel_cases.h"

#include <cmath>

namespace hone::testing {
namespace {

// Of sums of so many products of values in [-2, 2): as in kernel_cases.cpp.
double rounding_of(double terms) { return 8 * terms * 0x1p-24; }

struct Sizes2d {
  std::int64_t batch, channels, height, width, outputs, kernel, stride, padding, dilation, groups;
};

std::int64_t positions(std::int64_t size, const Sizes2d& s) {
  return (size + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
}

void add_convolutions(std::vector<KernelCase>& cases) {
  // Rows as wide as the image, and others; panels that hold several images; phases that no tap reaches; blocks of channels.
  for (
      const Sizes2d& s :
      {Sizes2d{1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
       {3, 5, 7, 7, 9, 3, 1, 1, 1, 1},
       {2, 3, 19, 23, 13, 7, 2, 3, 1, 1},
       {2, 70, 9, 9, 37, 3, 2, 1, 1, 1},
       {2, 300, 5, 6, 11, 1, 1, 0, 1, 1},
       {2, 6, 11, 10, 7, 1, 2, 0, 1, 1},
       {1, 8, 12, 9, 12, 3, 1, 2, 2, 4},
       {2, 6, 10, 13, 6, 3, 3, 1, 1, 6},
       {1, 3, 4, 5, 530, 2, 1, 1, 1, 1},
       // Winograd's: odd sizes, rows of tiles wider and narrower than a vector, groups of outputs that are not
       // whole, columns far outside.
       {3, 16, 7, 7, 17, 3, 1, 1, 1, 1},
       {1, 21, 3, 75, 70, 3, 1, 0, 1, 1},
       {2, 40, 14, 29, 33, 3, 1, 1, 1, 1},
       {2, 16, 3, 2, 16, 3, 1, 2, 1, 1},
       {1, 16, 5, 4, 300, 3, 1, 40, 1, 1}}) {
    const std::int64_t height = positions(s.height, s), width = positions(s.width, s);
    const std::string x = fmt::format("f32[{}, {}, {}, {}]", s.batch, s.channels, s.height,
                                      s.width),
                      w = fmt::format("f32[{}, {}, {}, {}]", s.outputs, s.channels / s.groups,
                                      s.kernel, s.kernel),
                      y = fmt::format("f32[{}, {}, {}, {}]", s.batch, s.outputs, height, width),
                      how = fmt::format("stride={}, padding={}, dilation={}, groups={}", s.stride,
                                        s.padding, s.dilation, s.groups);
    const double
        depth = static_cast<double>(s.channels / s.groups * s.kernel * s.kernel),
        // Of values that may be so many times larger than those of the definition: see winograd.h.
        growth = s.kernel == 3 && s.stride == 1 && s.dilation == 1 && s.groups == 1 ? 9 : 1;
    cases.push_back({.text = fmt::format(R"(%x = input : {0}
%w = input : {1}
%b = input : f32[{4}]
%r = input : {2}
%y = conv2d(%x, %w) {{{3}}} : {2}
%z = conv2d(%x, %w, %b) {{{3}}} : {2}
%f = fused_conv2d(%x, %w, %b, %r) {{{3}, activation="relu"}} : {2}
%g = fused_conv2d(%x, %w, %b) {{{3}, activation="gelu"}} : {2}
output y = %y
output z = %z
output f = %f
output g = %g
)",
                                         x, w, y, how, s.outputs),
                     .relative = 8,
                     .absolute = growth * 2 * rounding_of(depth + 2)});
    const double reached = static_cast<double>(s.outputs / s.groups * s.kernel * s.kernel);
    cases.push_back(
        {.text = fmt::format(R"(%x = input : {0}
%w = input : {1}
%dy = input : {2}
%dx = conv2d_input_gradient(%w, %dy) {{{3}, shape={4}}} : {0}
%dw = conv2d_weight_gradient(%x, %dy) {{{3}, shape={5}}} : {1}
output dx = %dx
output dw = %dw
)",
                             x, w, y, how, x.substr(3), w.substr(3)),
         .absolute = growth * rounding_of(std::max(
                                  reached, static_cast<double>(s.batch * height * width)))});
  }
}

void add_batch_norms(std::vector<KernelCase>& cases) {
  for (const char* shape : {"[2, 1]", "[3, 5, 1, 1]", "[2, 3, 17, 19]", "[4, 33, 130]"}) {
    const std::string text = shape;
    const std::string channels = text.substr(4, text.find_first_of(",]", 4) - 4);
    const std::string all = fmt::format(R"(%x = input : f32{0}
%gamma = input : f32[{1}]
%beta = input : f32[{1}]
%dy = input : f32{0}
%variance = input : f32[{1}]
%y = batch_norm(%x, %gamma, %beta, %beta, %variance) {{eps=2.5}} : f32{0}
%n = batch_norm_training(%x, %gamma, %beta) : f32{0}, f32[{1}], f32[{1}]
%d = batch_norm_gradient(%x, %gamma, %dy) : f32{0}, f32[{1}], f32[{1}]
output y = %y
output n = %n
output mean = %n:1
output variance = %n:2
output dx = %d
output dgamma = %d:1
output dbeta = %d:2
)",
                                        shape, channels);
    // Means of n values, as in layer_norm; normalised values and their sums grow with the root of n. Of two values the
    // deviation may be small, which what is divided by it follows.
    cases.push_back({.text = all, .relative = 64, .absolute = 256 * kUlp + rounding_of(300)});
  }
}

// One operation each, as the test of work in place wants it.
void add_batch_norms_alone(std::vector<KernelCase>& cases) {
  const std::string inputs = R"(%x = input : f32[2, 3, 17, 19]
%gamma = input : f32[3]
%last = input : f32[LAST]
)";
  for (const auto& [last, operation] : std::vector<std::pair<std::string, std::string>>{
           {"3", "batch_norm(%x, %gamma, %last, %last, %gamma) {eps=2.5} : f32[2, 3, 17, 19]"},
           {"3", "batch_norm_training(%x, %gamma, %last) : f32[2, 3, 17, 19], f32[3], f32[3]"},
           {"2, 3, 17, 19",
            "batch_norm_gradient(%x, %gamma, %last) : f32[2, 3, 17, 19], f32[3], f32[3]"}}) {
    std::string text = inputs;
    text.replace(text.find("LAST"), 4, last);
    cases.push_back({.text = text + "%y = " + operation + "\noutput y = %y\n",
                     .relative = 64,
                     .absolute = 256 * kUlp + rounding_of(300)});
  }
}

void add_pools(std::vector<KernelCase>& cases) {
  for (const auto& [height, width, kernel, stride, padding] :
       {std::array<std::int64_t, 5>{1, 1, 1, 1, 0},
        {9, 21, 3, 2, 1},
        {40, 37, 3, 2, 1},
        {12, 11, 2, 2, 0},
        {13, 10, 5, 3, 2},
        {7, 9, 3, 1, 1}}) {
    const std::int64_t rows = (height + 2 * padding - kernel) / stride + 1,
                       columns = (width + 2 * padding - kernel) / stride + 1;
    cases.push_back({.text = fmt::format(R"(%x = input : f32[2, 33, {0}, {1}]
%dy = input : f32[2, 33, {2}, {3}]
%y = max_pool2d(%x) {{kernel={4}, stride={5}, padding={6}}} : f32[2, 33, {2}, {3}]
%d = max_pool2d_gradient(%x, %dy) {{kernel={4}, stride={5}, padding={6}}} : f32[2, 33, {0}, {1}]
%mean = global_average_pool(%x) : f32[2, 33]
%dmean = global_average_pool_gradient(%mean) {{shape=[2, 33, {0}, {1}]}} : f32[2, 33, {0}, {1}]
output y = %y
output d = %d
output mean = %mean
output dmean = %dmean
)",
                                         height, width, rows, columns, kernel, stride, padding),
                     .relative = 8,
                     .absolute = 32 * kUlp});
  }
}

void add_moving_average(std::vector<KernelCase>& cases) {
  cases.push_back({.text = R"(%average = input : f32[37]
%x = input : f32[37]
%y = moving_average(%average, %x) {momentum=0.1} : f32[37]
output y = %y
)"});
}

}  // namespace

std::vector<KernelCase> image_kernel_cases() {
  std::vector<KernelCase> cases;
  add_convolutions(cases);
  add_batch_norms(cases);
  add_batch_norms_alone(cases);
  add_pools(cases);
  add_moving_average(cases);
  return cases;
}

std::vector<KernelCase> all_kernel_cases() {
  std::vector<KernelCase> cases = kernel_cases();
  for (KernelCase& more : image_kernel_cases()) cases.push_back(std::move(more));
  return cases;
}

}  // namespace hone::testing
