#include "tests/runtime/image_kernel_cases.h"

#include <algorithm>
#include <array>

namespace hone::testing {
namespace {

// Returns the error of a sum of this many products of values in [-2, 2), as in kernel_cases.cpp.
double rounding_of(double terms) { return 8 * terms * 0x1p-24; }

struct Sizes2d {
  std::int64_t batch, channels, height, width, outputs, kernel, stride, padding, dilation, groups;
};

std::int64_t positions(std::int64_t size, const Sizes2d& s) {
  return (size + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
}

/// Graph texts for values of one type. Inputs and compared outputs are f32.
struct ValueText {
  std::string type;

  std::string of(const std::string& shape) const { return type + shape; }
  std::string input(const std::string& name, const std::string& shape) const {
    if (type == "f32") return fmt::format("%{} = input : f32{}\n", name, shape);
    return fmt::format("%{0}0 = input : f32{1}\n%{0} = cast(%{0}0) {{dtype=\"{2}\"}} : {2}{1}\n",
                       name, shape, type);
  }
  std::string output(const std::string& name, const std::string& shape) const {
    if (type == "f32") return fmt::format("output {0} = %{0}\n", name);
    return fmt::format("%{0}1 = cast(%{0}) {{dtype=\"f32\"}} : f32{1}\noutput {0} = %{0}1\n", name,
                       shape);
  }
  // Kernel and reference each round once. Slightly different unrounded values can change the last place.
  double relative(double of_floats) const {
    return type == "f32" ? of_floats : (type == "bf16" ? 0x1p-7 : 0x1p-10) / kUlp;
  }
};

void add_convolution(std::vector<KernelCase>& cases, const Sizes2d& s, const std::string& type) {
  const ValueText text{type};
  const std::int64_t height = positions(s.height, s), width = positions(s.width, s);
  const std::string x = fmt::format("[{}, {}, {}, {}]", s.batch, s.channels, s.height, s.width),
                    w = fmt::format("[{}, {}, {}, {}]", s.outputs, s.channels / s.groups, s.kernel,
                                    s.kernel),
                    y = fmt::format("[{}, {}, {}, {}]", s.batch, s.outputs, height, width),
                    b = fmt::format("[{}]", s.outputs),
                    how = fmt::format("stride={}, padding={}, dilation={}, groups={}", s.stride,
                                      s.padding, s.dilation, s.groups);
  const double
      depth = static_cast<double>(s.channels / s.groups * s.kernel * s.kernel),
      // Winograd's intermediate values may be this much larger than those of the definition; see winograd.h.
      growth = s.kernel == 3 && s.stride == 1 && s.dilation == 1 && s.groups == 1 ? 9 : 1;
  std::string forward =
      text.input("x", x) + text.input("w", w) + text.input("b", b) + text.input("r", y);
  forward += fmt::format(R"(%y = conv2d(%x, %w) {{{0}}} : {1}
%z = conv2d(%x, %w, %b) {{{0}}} : {1}
%f = fused_conv2d(%x, %w, %b, %r) {{{0}, activation="relu"}} : {1}
%g = fused_conv2d(%x, %w, %b) {{{0}, activation="{2}"}} : {1}
)",
                         how, text.of(y), s.batch == 1 ? "gelu" : "none");
  for (const char* name : {"y", "z", "f", "g"}) forward += text.output(name, y);
  cases.push_back({.text = forward,
                   .relative = text.relative(8),
                   .absolute = growth * 2 * rounding_of(depth + 2)});
  const double reached = static_cast<double>(s.outputs / s.groups * s.kernel * s.kernel);
  cases.push_back(
      {.text = text.input("x", x) + text.input("w", w) + text.input("dy", y) +
               fmt::format(R"(%dx = conv2d_input_gradient(%w, %dy) {{{0}, shape={1}}} : {2}
%dw = conv2d_weight_gradient(%x, %dy) {{{0}, shape={3}}} : {4}
)",
                           how, x, text.of(x), w, text.of(w)) +
               text.output("dx", x) + text.output("dw", w),
       .relative = text.relative(0),
       .absolute =
           growth * rounding_of(std::max(reached, static_cast<double>(s.batch * height * width)))});
}

void add_convolutions(std::vector<KernelCase>& cases) {
  // Rows as wide as the image and others; panels with several images; phases without a tap; blocks of channels;
  // channels in whole chunks of 16 bytes; sums shared by many blocks.
  for (const Sizes2d& s : {Sizes2d{1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
                           {3, 5, 7, 7, 9, 3, 1, 1, 1, 1},
                           {2, 3, 19, 23, 13, 7, 2, 3, 1, 1},
                           {2, 70, 9, 9, 37, 3, 2, 1, 1, 1},
                           {2, 300, 5, 6, 11, 1, 1, 0, 1, 1},
                           {2, 6, 11, 10, 7, 1, 2, 0, 1, 1},
                           {1, 8, 12, 9, 12, 3, 1, 2, 2, 4},
                           {2, 6, 10, 13, 6, 3, 3, 1, 1, 6},
                           {1, 3, 4, 5, 530, 2, 1, 1, 1, 1},
                           {2, 16, 9, 10, 24, 3, 2, 1, 1, 1},
                           {3, 8, 17, 16, 8, 3, 1, 2, 2, 1},
                           {1, 33000, 1, 2, 2, 1, 1, 0, 1, 1},
                           {3, 2, 33, 31, 5, 3, 1, 1, 1, 1}})
    add_convolution(cases, s, "f32");
  for (const char* type : {"bf16", "f16"})
    for (const Sizes2d& s : {Sizes2d{3, 5, 7, 7, 9, 3, 1, 1, 1, 1},
                             {2, 70, 9, 9, 37, 3, 2, 1, 1, 1},
                             {2, 304, 5, 6, 72, 1, 1, 0, 1, 1},
                             {2, 16, 9, 10, 24, 3, 2, 1, 1, 1},
                             {3, 8, 17, 16, 8, 3, 1, 2, 2, 1},
                             {1, 8, 12, 9, 12, 3, 1, 2, 2, 4},
                             {1, 33000, 1, 2, 2, 1, 1, 0, 1, 1}})
      add_convolution(cases, s, type);
}

// Odd sizes, rows of tiles wider and narrower than a vector, partial groups of outputs, and columns far outside the
// image.
void add_winograd_convolutions(std::vector<KernelCase>& cases) {
  for (const Sizes2d& s : {Sizes2d{3, 16, 7, 7, 17, 3, 1, 1, 1, 1},
                           {1, 21, 3, 75, 70, 3, 1, 0, 1, 1},
                           {2, 40, 14, 29, 33, 3, 1, 1, 1, 1},
                           {2, 16, 3, 2, 16, 3, 1, 2, 1, 1},
                           {1, 16, 5, 4, 300, 3, 1, 40, 1, 1}})
    add_convolution(cases, s, "f32");
}

void add_batch_norm(std::vector<KernelCase>& cases, const std::string& shape,
                    const std::string& type) {
  const ValueText text{type};
  const std::string channels = shape.substr(4, shape.find_first_of(",]", 4) - 4);
  std::string all = text.input("x", shape) + text.input("dy", shape);
  all += fmt::format(R"(%gamma = input : f32[{1}]
%beta = input : f32[{1}]
%variance = input : f32[{1}]
%y = batch_norm(%x, %gamma, %beta, %beta, %variance) {{eps=2.5}} : {0}
%n = batch_norm_training(%x, %gamma, %beta) : {0}, f32[{1}], f32[{1}]
%d = batch_norm_gradient(%x, %gamma, %dy) : {0}, f32[{1}], f32[{1}]
output mean = %n:1
output variance = %n:2
output dgamma = %d:1
output dbeta = %d:2
)",
                     text.of(shape), channels);
  for (const char* name : {"y", "n", "d"}) all += text.output(name, shape);
  // Means of n values, as in layer_norm. Normalized values and their sums grow with the square root of n. The deviation
  // of two values may be small, which increases the error of quotients.
  cases.push_back(
      {.text = all, .relative = text.relative(64), .absolute = 256 * kUlp + rounding_of(300)});
}

void add_batch_norms(std::vector<KernelCase>& cases) {
  for (const char* shape : {"[2, 1]", "[3, 5, 1, 1]", "[2, 3, 17, 19]", "[4, 33, 130]",
                            "[2, 3, 16, 20]", "[9, 3, 32, 40]"})
    add_batch_norm(cases, shape, "f32");
  for (const char* type : {"bf16", "f16"})
    for (const char* shape : {"[2, 3, 17, 19]", "[2, 3, 16, 20]"})
      add_batch_norm(cases, shape, type);
}

// Graphs of a single operation, as the test of in-place operations requires.
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

void add_pool(std::vector<KernelCase>& cases, const std::array<std::int64_t, 5>& sizes,
              const std::string& type) {
  const ValueText text{type};
  const auto& [height, width, kernel, stride, padding] = sizes;
  const std::int64_t rows = (height + 2 * padding - kernel) / stride + 1,
                     columns = (width + 2 * padding - kernel) / stride + 1;
  const std::string x = fmt::format("[2, 33, {}, {}]", height, width),
                    y = fmt::format("[2, 33, {}, {}]", rows, columns),
                    how = fmt::format("kernel={}, stride={}, padding={}", kernel, stride, padding);
  std::string all = text.input("x", x) + text.input("dy", y);
  all += fmt::format(R"(%y = max_pool2d(%x) {{{2}}} : {1}
%d = max_pool2d_gradient(%x, %dy) {{{2}}} : {0}
%mean = global_average_pool(%x) : {3}
%dmean = global_average_pool_gradient(%mean) {{shape={4}}} : {0}
)",
                     text.of(x), text.of(y), how, text.of("[2, 33]"), x);
  all += text.output("y", y) + text.output("d", x) + text.output("mean", "[2, 33]") +
         text.output("dmean", x);
  // The gradient divides a mean that may have been rounded differently.
  cases.push_back({.text = all, .relative = 2 * text.relative(4), .absolute = 32 * kUlp});
}

void add_pools(std::vector<KernelCase>& cases) {
  for (const std::array<std::int64_t, 5>& sizes : {std::array<std::int64_t, 5>{1, 1, 1, 1, 0},
                                                   {9, 21, 3, 2, 1},
                                                   {40, 37, 3, 2, 1},
                                                   {12, 11, 2, 2, 0},
                                                   {13, 10, 5, 3, 2},
                                                   {7, 9, 3, 1, 1}})
    add_pool(cases, sizes, "f32");
  for (const char* type : {"bf16", "f16"}) add_pool(cases, {9, 21, 3, 2, 1}, type);
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
  add_winograd_convolutions(cases);
  return cases;
}

}  // namespace hone::testing
