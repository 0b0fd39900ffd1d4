#include "tests/runtime/kernel_cases.h"

#include <algorithm>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/packing.h"
#include "hone/ops/list.h"

namespace hone::testing {
namespace {

double sum_of(double terms) { return 8 * terms * 0x1p-24; }

// `body` maps %x : f32[type] to %y of the same type.
KernelCase unary(const std::string& body, const std::string& shape, double relative,
                 double absolute) {
  return {
      .text = fmt::format("%x = input : f32{0}\n%y = {1} : f32{0}\noutput y = %y\n", shape, body),
      .relative = relative,
      .absolute = absolute};
}

// `body` maps %x and %dy, both f32[type], to %y of the same type.
KernelCase with_gradient(const std::string& body, const std::string& shape, double relative,
                         double absolute) {
  return {.text = fmt::format("%x = input : f32{0}\n%dy = input : f32{0}\n%y = {1} : f32{0}\n"
                              "output y = %y\n",
                              shape, body),
          .relative = relative,
          .absolute = absolute};
}

std::vector<KernelCase> element_wise_cases() {
  std::vector<KernelCase> cases;
  for (const char* shape : {"[1]", "[13]", "[3, 1037, 33]"}) {
    cases.push_back(unary("relu(%x)", shape, 0, 0));
    cases.push_back(unary("scale(%x) {factor=0.3}", shape, 0, 0));
    cases.push_back(unary("cast(%x) {dtype=\"f32\"}", shape, 0, 0));
    for (const char* half : {"bf16", "f16"})
      cases.push_back({.text = fmt::format(R"(%x = input : f32{0}
%h = cast(%x) {{dtype="{1}"}} : {1}{0}
%y = cast(%h) {{dtype="f32"}} : f32{0}
output y = %y
)",
                                           shape, half)});
    cases.push_back(unary("full(%x) {value=-0.7, dtype=\"f32\"}", shape, 0, 0));
    cases.push_back(unary("quantize(%x) {format=integer(width=8,frac=5)}", shape, 0, 0));
    cases.push_back(unary("quantize(%x) {format=mxint(bits=8,block=32)}", shape, 0, 0));
    cases.push_back(with_gradient("add(%x, %dy)", shape, 0, 0));
    cases.push_back(with_gradient("mul(%x, %dy)", shape, 0, 0));
    cases.push_back(with_gradient("relu_gradient(%x, %dy)", shape, 0, 0));
    // Polynomials of fp32 operations: a few roundings of the result and of intermediate values near 1.
    cases.push_back(unary("tanh(%x)", shape, 8, 0));
    cases.push_back(with_gradient("tanh_gradient(%x, %dy)", shape, 8, 16 * kUlp));
    for (const char* approximate : {"none", "tanh"}) {
      const std::string tail = fmt::format(" {{approximate=\"{}\"}}", approximate);
      cases.push_back(unary("gelu(%x)" + tail, shape, 8, 4 * kUlp));
      cases.push_back(with_gradient("gelu_gradient(%x, %dy)" + tail, shape, 16, 16 * kUlp));
    }
  }
  return cases;
}

std::vector<KernelCase> formula_cases() {
  std::vector<KernelCase> cases;
  for (const char* shape : {"[1]", "[13]", "[3, 1037, 33]"}) {
    // exp is a polynomial of fp32 operations too.
    cases.push_back(
        unary("elementwise(%x) {formula=\"x0 / (1 + exp(-1.702 * x0))\"}", shape, 8, 0));
    cases.push_back(with_gradient(
        "elementwise(%x, %dy) {formula=\"select(x0 < x1, abs(x0), sqrt(x0 * x0 + 1)) - x1\"}",
        shape, 2, 2 * kUlp));
  }
  // Several results, and operands that are broadcast along the last dimension, the first, and all.
  cases.push_back({.text = R"graph(%x = input : f32[3, 1037, 33]
%row = input : f32[33]
%column = input : f32[3, 1037, 1]
%one = input : f32[]
%kept = input : bool[3, 1037, 33]
%y = elementwise(%x, %row, %column, %one, %kept) {formula="t0 = x0 + x1 * x2; t0; select(0 < x4, tanh(t0), x3); erf(t0)"} : f32[3, 1037, 33], f32[3, 1037, 33], f32[3, 1037, 33]
output y = %y:0
output z = %y:1
output w = %y:2
)graph",
                   .relative = 8,
                   .absolute = 8 * kUlp});
  return cases;
}

std::vector<KernelCase> pruning_cases() {
  std::vector<KernelCase> cases;
  for (const char* shape : {"[1]", "[13]", "[3, 1037, 33]"}) {
    cases.push_back({.text = fmt::format(R"(%x = input : f32{0}
%kept = input : bool{0}
%y = mask(%x, %kept) : f32{0}
output y = %y
)",
                                         shape)});
    const NamedTensors least = {{"least", Tensor::scalar(0.8f)}};
    cases.push_back({.text = fmt::format(R"(%x = input : f32{0}
%least = input : f32[]
%y = threshold(%x, %least) : f32{0}
output y = %y
)",
                                         shape),
                     .given = least});
    cases.push_back({.text = fmt::format(R"(%x = input : f32{0}
%dy = input : f32{0}
%least = input : f32[]
%y = threshold_gradient(%x, %dy, %least) : f32{0}
output y = %y
)",
                                         shape),
                     .given = least});
  }
  return cases;
}

std::vector<KernelCase> strided_and_broadcast_cases() {
  std::vector<KernelCase> cases;
  for (const char* op : {"add", "mul"}) {
    cases.push_back({.text = fmt::format(R"(%a = input : f32[5, 1, 33]
%b = input : f32[17, 1]
%y = {}(%a, %b) : f32[5, 17, 33]
output y = %y
)",
                                         op)});
    cases.push_back({.text = fmt::format(R"(%a = input : f32[33, 65]
%b = input : f32[65, 33]
%turned = transpose(%b) {{axes=[1, 0]}} : f32[33, 65]
%y = {}(%turned, %a) : f32[33, 65]
output y = %y
)",
                                         op)});
  }
  cases.push_back({.text = R"(%x = input : f32[33, 3, 65]
%turned = transpose(%x) {axes=[2, 0, 1]} : f32[65, 33, 3]
%y = reshape(%turned) {shape=[65, 99]} : f32[65, 99]
%small = slice(%x) {axis=2, begin=1, size=[7]} : f32[33, 3, 7]
%flat = reshape(%small) {shape=[693]} : f32[693]
%same = reshape(%x) {shape=[99, 65]} : f32[99, 65]
output y = %y
output flat = %flat
output same = %same
)"});
  cases.push_back({.text = R"(%x = input : f32[12, 33]
%turned = transpose(%x) {axes=[1, 0]} : f32[33, 12]
%y = softmax(%turned) : f32[33, 12]
%z = relu(%turned) : f32[33, 12]
output y = %y
output z = %z
)",
                   .relative = 8});
  return cases;
}

std::vector<KernelCase> row_cases() {
  std::vector<KernelCase> cases;
  for (const auto& [rows, length] : {std::pair<int, int>{1, 1}, {3, 17}, {301, 129}, {5, 1000}}) {
    const std::string shape = fmt::format("[{}, {}]", rows, length);
    // The terms of the sum are positive. They and the exponentials each have a few rounding errors.
    cases.push_back(unary("softmax(%x)", shape, 16 + std::log2(length), 0));
    cases.push_back(with_gradient("softmax_gradient(%x, %dy)", shape, 8, 2 * sum_of(length)));
    cases.push_back(unary("normalize(%x) {eps=1e-12}", shape, 0, 0));
    cases.push_back(with_gradient("normalize_gradient(%x, %dy) {eps=1e-12}", shape, 0, 0));
    // Mean and variance are sums over n divided by n: an error of about 2^-21. Normalized values are below 2. The
    // gradients of gamma and beta are sums over rows.
    cases.push_back({.text = fmt::format(R"(%x = input : f32[{0}, {1}]
%gamma = input : f32[{1}]
%beta = input : f32[{1}]
%y = layer_norm(%x, %gamma, %beta) {{eps=1e-05}} : f32[{0}, {1}]
output y = %y
)",
                                         rows, length),
                     .relative = 16,
                     .absolute = 32 * kUlp});
    cases.push_back({.text = fmt::format(R"(%x = input : f32[{0}, {1}]
%gamma = input : f32[{1}]
%dy = input : f32[{0}, {1}]
%d = layer_norm_gradient(%x, %gamma, %dy) {{eps=1e-05}} : f32[{0}, {1}], f32[{1}], f32[{1}]
output dx = %d
output dgamma = %d:1
output dbeta = %d:2
)",
                                         rows, length),
                     .relative = 16,
                     .absolute = 64 * kUlp + sum_of(rows)});
    cases.push_back({.text = fmt::format(R"(%logits = input : f32[{0}, {1}]
%labels = input : i64[{0}]
%scale = input : f32[]
%y = cross_entropy(%logits, %labels) : f32[]
%d = cross_entropy_gradient(%logits, %labels, %scale) : f32[{0}, {1}]
output y = %y
output d = %d
)",
                                         rows, length),
                     .integers_below = length,
                     .relative = 16,
                     .absolute = 32 * kUlp});
  }
  cases.push_back({.text = R"(%logits = input : f32[4, 3]
%labels = input : i64[4]
%scale = input : f32[]
%weights = input : f32[3]
%y = cross_entropy(%logits, %labels, %weights) : f32[]
%d = cross_entropy_gradient(%logits, %labels, %scale, %weights) : f32[4, 3]
output y = %y
output d = %d
)",
                   .given = {{"labels", Tensor::of<std::int64_t>({4}, {2, -100, 0, 1})},
                             {"weights", Tensor::of<float>({3}, {0.5f, 3, 1.25f})}},
                   .relative = 16,
                   .absolute = 32 * kUlp});
  cases.push_back({.text = R"(%logits = input : f32[4, 3]
%labels = input : i64[4]
%scale = input : f32[]
%y = cross_entropy(%logits, %labels) : f32[]
%d = cross_entropy_gradient(%logits, %labels, %scale) : f32[4, 3]
output y = %y
output d = %d
)",
                   .given = {{"labels", Tensor::of<std::int64_t>({4}, {2, -100, 0, -100})}},
                   .relative = 16,
                   .absolute = 32 * kUlp});
  return cases;
}

std::vector<float> unit_floats(std::int64_t count) {
  RandomSequence random(7, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.uniform());
  return values;
}

std::vector<KernelCase> loss_cases() {
  std::vector<KernelCase> cases;
  const auto in_text = [](const std::string& shape, std::string_view op) {
    return fmt::format(R"(%x = input : f32{0}
%targets = input : f32{0}
%scale = input : f32[]
%y = {1}(%x, %targets) : f32[]
%d = {1}_gradient(%x, %targets, %scale) : f32{0}
output y = %y
output d = %d
)",
                       shape, op);
  };
  for (const char* shape : {"[1]", "[13]", "[1037, 65]"}) {
    // Sums in double, and a difference, a factor and a product in float.
    cases.push_back({.text = in_text(shape, "mean_squared_error"), .relative = 4});
  }
  for (const std::int64_t rows : {1, 1037}) {
    // An exponential, a quotient and their sums with numbers near 1, scaled by 1 / elements, which is at most 1.
    cases.push_back({.text = in_text(fmt::format("[{}, 65]", rows), "binary_cross_entropy"),
                     .given = {{"targets", Tensor::of<float>({rows, 65}, unit_floats(rows * 65))}},
                     .relative = 16,
                     .absolute = 16 * kUlp / static_cast<double>(rows * 65)});
  }
  return cases;
}

std::vector<KernelCase> product_cases() {
  std::vector<KernelCase> cases;
  for (const auto& [m, n, k] :
       {std::array<int, 3>{1, 1, 1}, {7, 17, 33}, {131, 67, 259}, {300, 67, 8}}) {
    cases.push_back({.text = fmt::format(R"(%x = input : f32[{0}, {2}]
%w = input : f32[{1}, {2}]
%b = input : f32[{1}]
%y = linear(%x, %w, %b) : f32[{0}, {1}]
%z = linear(%x, %w) : f32[{0}, {1}]
output y = %y
output z = %z
)",
                                         m, n, k),
                     .absolute = sum_of(k + 1)});
    // Activations have slopes below 1.13 and a few rounding errors of their own.
    cases.push_back({.text = fmt::format(R"(%x = input : f32[{0}, {2}]
%w = input : f32[{1}, {2}]
%b = input : f32[{1}]
%r = input : f32[{0}, {1}]
%y0 = fused_linear(%x, %w, %b, %r) : f32[{0}, {1}]
%y1 = fused_linear(%x, %w, %b, %r) {{activation="relu"}} : f32[{0}, {1}]
%y2 = fused_linear(%x, %w, %b, %r) {{activation="gelu"}} : f32[{0}, {1}]
%y3 = fused_linear(%x, %w, %b) {{activation="gelu_tanh"}} : f32[{0}, {1}]
%y4 = fused_linear(%x, %w, %b) {{activation="tanh"}} : f32[{0}, {1}]
output y0 = %y0
output y1 = %y1
output y2 = %y2
output y3 = %y3
output y4 = %y4
)",
                                         m, n, k),
                     .relative = 16,
                     .absolute = 1.13 * sum_of(k + 1) + 8 * kUlp});
    cases.push_back({.text = fmt::format(R"(%x = input : f32[{0}, {2}]
%dy = input : f32[{0}, {1}]
%dw = linear_weight_gradient(%x, %dy) : f32[{1}, {2}]
output dw = %dw
)",
                                         m, n, k),
                     .absolute = sum_of(m)});
    // Stacks of matrices, a shared right side, and operands that are transposed views.
    cases.push_back({.text = fmt::format(R"(%a = input : f32[2, 3, {0}, {2}]
%b = input : f32[3, {2}, {1}]
%bt = input : f32[2, 1, {1}, {2}]
%c = input : f32[{2}, {1}]
%at = input : f32[2, {2}, 3, {0}]
%turned = transpose(%bt) {{axes=[0, 1, 3, 2]}} : f32[2, 1, {2}, {1}]
%heads = transpose(%at) {{axes=[0, 2, 3, 1]}} : f32[2, 3, {0}, {2}]
%y1 = matmul(%a, %b) : f32[2, 3, {0}, {1}]
%y2 = matmul(%a, %turned) : f32[2, 3, {0}, {1}]
%y3 = matmul(%a, %c) : f32[2, 3, {0}, {1}]
%y4 = matmul(%heads, %turned) : f32[2, 3, {0}, {1}]
output y1 = %y1
output y2 = %y2
output y3 = %y3
output y4 = %y4
)",
                                         m, n, k),
                     .absolute = sum_of(k)});
  }
  return cases;
}

std::vector<KernelCase> attention_cases() {
  std::vector<KernelCase> cases;
  for (const auto& [queries, keys, size] :
       {std::array<int, 3>{1, 1, 1}, {5, 7, 3}, {50, 131, 16}}) {
    // Scores have a standard deviation below 5 and the rounding errors of their products. The weights inherit these
    // errors. Weights and values, which are below 2, add the rounding errors of two sums over keys.
    cases.push_back({.text = fmt::format(R"(%q = input : f32[2, {0}, 3, {2}]
%k = input : f32[2, {1}, 3, {2}]
%heads = input : f32[2, 3, {1}, 8]
%mask = input : f32[2, 1, 1, {1}]
%same = input : f32[1, 1, 1, {1}]
%key = input : i64[]
%v = transpose(%heads) {{axes=[0, 2, 1, 3]}} : f32[2, {1}, 3, 8]
%y1 = attention(%q, %k, %v) {{scale=0.5}} : f32[2, {0}, 3, 8]
%y2 = attention(%q, %k, %v, %mask) {{scale=0.5}} : f32[2, {0}, 3, 8]
%y3 = attention(%q, %k, %v, %same) {{scale=0.5}} : f32[2, {0}, 3, 8]
%y4 = attention(%q, %k, %v, %key, %mask) {{scale=0.5, p=0.25, stream=3}} : f32[2, {0}, 3, 8]
%y5 = attention(%q, %k, %v, %key) {{scale=0.5, p=0.25, limits=[2, 3, 64, 200]}} : f32[2, {0}, 3, 8]
output y1 = %y1
output y2 = %y2
output y3 = %y3
output y4 = %y4
output y5 = %y5
)",
                                         queries, keys, size),
                     .integers_below = 1000,
                     .absolute = 2 * (8 * sum_of(size) + sum_of(keys)) + 16 * kUlp});
    // Gradients of scores are weighted differences of sums of eight products below 4. They are multiplied by keys or
    // queries below 4.
    cases.push_back(
        {.text = fmt::format(R"(%q = input : f32[2, {0}, 3, {2}]
%k = input : f32[2, {1}, 3, {2}]
%heads = input : f32[2, 3, {1}, 8]
%dy = input : f32[2, {0}, 3, 8]
%mask = input : f32[2, 1, 1, {1}]
%key = input : i64[]
%v = transpose(%heads) {{axes=[0, 2, 1, 3]}} : f32[2, {1}, 3, 8]
%a = attention_gradient(%q, %k, %v, %dy, %mask) {{scale=0.5}} : f32[2, {0}, 3, {2}], f32[2, {1}, 3, {2}], f32[2, {1}, 3, 8]
%b = attention_gradient(%q, %k, %v, %dy, %key) {{scale=0.5, p=0.25, limits=[2, 3, 64, 200]}} : f32[2, {0}, 3, {2}], f32[2, {1}, 3, {2}], f32[2, {1}, 3, 8]
output dq = %a
output dk = %a:1
output dv = %a:2
output dropped_dq = %b
output dropped_dk = %b:1
output dropped_dv = %b:2
)",
                             queries, keys, size),
         .integers_below = 1000,
         .absolute = 32 * (8 * sum_of(size) + sum_of(keys) + sum_of(queries)) + 256 * kUlp});
  }
  return cases;
}

// Returns codes of a weight in this format, without state, as inputs of a graph.
NamedTensors packed_codes(const Format& format, const Sizes& sizes, Arrangement arrangement) {
  RandomSequence random(4, stream_of("packed"));
  std::vector<float> values(static_cast<std::size_t>(element_count(sizes)));
  for (float& value : values) value = static_cast<float>(4 * random.uniform() - 2);
  ThreadPool pool(1);
  const PackedCodes packed =
      pack({format, sizes, values, {}}, packed_layout(format, sizes, arrangement), pool);
  return {{"codes", packed.codes}, {"shared", packed.shared}};
}

// A product that rounds its results to codes, and a product that reads them. Summing in another order can move a result
// across the midpoint between two codes, which are 0.25 apart, by a few ulp. With weights below 2 this changes a sum by
// 0.5. Among 70 codes this does not happen twice.
KernelCase codes_case(bool with_nan = false) {
  const Format format = parse_format("int(bits=8,per=row,scale=dynamic)", references().formats);
  constexpr int kRows = 70, kColumns = 96;
  NamedTensors given = packed_codes(format, {kRows, kColumns}, Arrangement::panels);
  const NamedTensors next = packed_codes(format, {kColumns, kRows}, Arrangement::panels);
  given.emplace("s", Tensor::scalar(0.25f));
  if (with_nan) {  // makes its row NaN
    Tensor residual = Tensor::zeros(DType::f32, {3, 13, kRows});
    residual.values<float>()[kRows + 3] = std::nanf("");
    given.emplace("r", residual);
  }
  given.emplace("next_codes", next.at("codes"));
  given.emplace("next_shared", next.at("shared"));
  const Format of_input = parse_format("int(bits=8,per=token)", references().formats),
               of_output = parse_format("int(bits=8)", references().formats);
  const auto codes = [](const Format& rounded, int columns) {
    return to_string(coded_rows_type(rounded, {DType::f32, {3, 13, columns}}));
  };
  return {.text = fmt::format(
              "%x = input : f32[3, 13, {0}]\n%r = input : f32[3, 13, {1}]\n%b = input : f32[{1}]\n"
              "%s = input : f32[]\n%codes = input : u8[{2}]\n%shared = input : u8[{3}]\n"
              "%next_codes = input : u8[{4}]\n%next_shared = input : u8[{5}]\n"
              "%next_b = input : f32[{0}]\n%q = encode_rows(%x) {{format={6}}} : {7}\n"
              "%z = native_linear_codes(%q, %codes, %shared, %b, %r, %s) {{format={8}, "
              "shape=[{1}, {0}], activation=\"gelu\", residual=true, input_format={6}, "
              "output_format={9}}} : {10}\n"
              "%y = native_linear(%z, %next_codes, %next_shared, %next_b) {{format={8}, "
              "shape=[{0}, {1}], input_format={9}}} : f32[3, 13, {0}]\noutput y = %y\n",
              kColumns, kRows, given.at("codes").count(), given.at("shared").count(),
              next.at("codes").count(), next.at("shared").count(), to_string(of_input),
              codes(of_input, kColumns), to_string(format), to_string(of_output),
              codes(of_output, kRows)),
          .given = given,
          .absolute = 0.5 + 4 * sum_of(kRows)};
}

// More columns than kernels process at once.
std::vector<KernelCase> wide_packed_cases() {
  std::vector<KernelCase> cases;
  constexpr int kRows = 140, kColumns = 608;
  for (const char* name : {"mxint(bits=8,block=32)", "mxint(bits=4,block=16)",
                           "int(bits=4,per=row,scale=dynamic)", "int(bits=3,per=row,scale=dynamic)",
                           "bf16", "minifloat_ieee(width=6,exponent_width=3,exponent_bias=3)"}) {
    const Format format = parse_format(name, references().formats);
    const NamedTensors given = packed_codes(format, {kRows, kColumns}, Arrangement::panels);
    for (const int tokens : {1, 17})
      cases.push_back(
          {.text = fmt::format(
               "%x = input : f32[{0}, {1}]\n%b = input : f32[{2}]\n%codes = input : u8[{3}]\n"
               "%shared = input : u8[{4}]\n%y = packed_linear(%x, %codes, %shared, %b) "
               "{{format={5}, shape=[{2}, {1}]}} : f32[{0}, {2}]\noutput y = %y\n",
               tokens, kColumns, kRows, given.at("codes").count(), given.at("shared").count(),
               name),
           .given = given,
           .absolute = 4 * sum_of(kColumns)});
  }
  return cases;
}

std::vector<KernelCase> packed_cases() {
  std::vector<KernelCase> cases;
  constexpr int kRows = 70, kColumns = 96;
  // Formats for integer products, for products of floats with integers, and for neither.
  for (const auto& [weight, input] :
       {std::pair("mxint(bits=8,block=32)", "mxint(bits=8,block=32)"),
        std::pair("int(bits=4,per=row,scale=dynamic)", "int(bits=8,per=token)"),
        std::pair("ternary", "mxint(bits=8)"), std::pair("bf16", "bf16"),
        std::pair("binary", "binary"),
        std::pair("minifloat_ieee(width=6,exponent_width=3,exponent_bias=3)",
                  "mxfp(element=e2m1)")}) {
    const Format format = parse_format(weight, references().formats);
    NamedTensors given = packed_codes(format, {kRows, kColumns}, Arrangement::panels);
    const std::string inputs = fmt::format(
        "%x = input : f32[3, 13, {0}]\n%r = input : f32[3, 13, {1}]\n%b = input : f32[{1}]\n"
        "%codes = input : u8[{2}]\n%shared = input : u8[{3}]\n",
        kColumns, kRows, given.at("codes").count(), given.at("shared").count());
    const std::string of_weight = fmt::format("format={}, shape=[{}, {}]", weight, kRows, kColumns);
    // Terms below 4, some rounded in another order.
    const double absolute = 4 * sum_of(kColumns);
    cases.push_back(
        {.text = fmt::format(
             "{}%y = packed_linear(%x, %codes, %shared, %b, %r) {{{}, activation=\"gelu\", "
             "residual=true}} : f32[3, 13, {}]\noutput y = %y\n",
             inputs, of_weight, kRows),
         .given = given,
         .absolute = absolute});
    // Inputs are rounded by an operation of their own or by the product.
    std::string encoder, x = "x";
    if (const std::string_view name = input; name != "bf16" && name != "binary") {
      x = "q";
      encoder = fmt::format("%q = encode_rows(%x) {{format={}}} : {}\n", input,
                            to_string(coded_rows_type(parse_format(input, references().formats),
                                                      {DType::f32, {3, 13, kColumns}})));
    }
    cases.push_back(
        {.text = fmt::format(
             "{}{}%y = native_linear(%{}, %codes, %shared, %b) {{{}, input_format={}}} : "
             "f32[3, 13, {}]\noutput y = %y\n",
             inputs, encoder, x, of_weight, input, kRows),
         .given = given,
         .absolute = absolute});
    given = packed_codes(format, {kRows, kColumns}, Arrangement::rows);
    cases.push_back(
        {.text = fmt::format(
             "%x = input : f32[3, 13, {}]\n%b = input : f32[{}]\n%codes = input : u8[{}]\n"
             "%shared = input : u8[{}]\n%y = packed_linear(%x, %codes, %shared, %b) {{{}, "
             "arrangement=\"rows\"}} : f32[3, 13, {}]\noutput y = %y\n",
             kColumns, kRows, given.at("codes").count(), given.at("shared").count(), of_weight,
             kRows),
         .given = given,
         .absolute = absolute});
    cases.push_back(
        {.text = fmt::format(
             "%ids = input : i64[5, 31]\n%codes = input : u8[{}]\n%shared = input : u8[{}]\n"
             "%y = packed_embedding(%ids, %codes, %shared) {{{}}} : f32[5, 31, {}]\n"
             "output y = %y\n",
             given.at("codes").count(), given.at("shared").count(), of_weight, kColumns),
         .integers_below = kRows,
         .given = given});
    cases.push_back(
        {.text = fmt::format("%codes = input : u8[{}]\n%shared = input : u8[{}]\n"
                             "%y = packed_rows(%codes, %shared) {{{}, begin=2, size=[5]}} : "
                             "f32[5, {}]\noutput y = %y\n",
                             given.at("codes").count(), given.at("shared").count(), of_weight,
                             kColumns),
         .given = given});
  }
  cases.push_back(codes_case());
  cases.push_back(codes_case(true));
  return cases;
}

/// A product of codes: the numbers of tokens, and of columns and rows of the weight.
struct CodedProduct {
  int tokens, columns, rows;
  std::string_view weight, input;
  std::string_view values = "f32";  ///< the type of x, bias, residual and results
};

KernelCase coded_product_case(const CodedProduct& product) {
  const FormatTable& formats = references().formats;
  const auto& [tokens, columns, rows, weight, input, values] = product;
  const NamedTensors given =
      packed_codes(parse_format(weight, formats), {rows, columns}, Arrangement::panels);
  const bool casts = values != "f32";
  const std::string x = casts ? "x.cast" : "x", r = casts ? "r.cast" : "r",
                    b = casts ? "b.cast" : "b";
  std::string text = fmt::format(
      "%x = input : f32[{0}, {1}]\n%r = input : f32[{0}, {2}]\n%b = input : f32[{2}]\n"
      "%codes = input : u8[{3}]\n%shared = input : u8[{4}]\n",
      tokens, columns, rows, given.at("codes").count(), given.at("shared").count());
  if (casts)
    text += fmt::format(
        "%x.cast = cast(%x) {{dtype=\"{3}\"}} : {3}[{0}, {1}]\n%r.cast = cast(%r) "
        "{{dtype=\"{3}\"}} : {3}[{0}, {2}]\n%b.cast = cast(%b) {{dtype=\"{3}\"}} : {3}[{2}]\n",
        tokens, columns, rows, values);
  text += fmt::format(
      "%q = encode_rows(%{0}) {{format={1}}} : {2}\n"
      "%y = native_linear(%q, %codes, %shared, %{3}, %{4}) {{format={5}, shape=[{6}, {7}], "
      "residual=true, input_format={1}}} : {8}[{9}, {6}]\n",
      x, input,
      to_string(coded_rows_type(parse_format(input, formats), {DType::f32, {tokens, columns}})), b,
      r, weight, rows, columns, values, tokens);
  text += casts ? fmt::format("%z = cast(%y) {{dtype=\"f32\"}} : f32[{}, {}]\noutput z = %z\n",
                              tokens, rows)
                : "output y = %y\n";
  // Terms below 4, some rounded in another order. Half-precision results are rounded once more.
  const double half = values == "bf16" ? 0x1p-7 / kUlp : values == "f16" ? 0x1p-10 / kUlp : 0;
  return {.text = text, .given = given, .relative = half, .absolute = 4 * sum_of(columns)};
}

// A layer norm that also returns codes, and the product that reads them. If the sums of the norm differ in the last
// place, a code may change to its neighbour. Codes are at most 8 / 127 apart, and weights are below 2.
KernelCase norm_codes_case(int tokens, int columns, int rows, std::string_view values = "f32") {
  constexpr std::string_view kByToken = "int(bits=8,per=token)";
  const Format weight = parse_format("int(bits=8,per=row,scale=dynamic)", references().formats);
  const NamedTensors given = packed_codes(weight, {rows, columns}, Arrangement::panels);
  const Type codes = coded_rows_type(parse_format(kByToken, references().formats),
                                     {DType::f32, {tokens, columns}});
  return {.text = fmt::format(
              "%x0 = input : f32[{0}, {1}]\n%gamma = input : f32[{1}]\n%beta = input : f32[{1}]\n"
              "%b = input : f32[{2}]\n%codes = input : u8[{3}]\n%shared = input : u8[{4}]\n"
              "%x = cast(%x0) {{dtype=\"{5}\"}} : {5}[{0}, {1}]\n"
              "%n = layer_norm_codes(%x, %gamma, %beta) {{eps=1e-05, format={6}}} : {5}[{0}, {1}], "
              "{7}\n"
              "%y = native_linear(%n:1, %codes, %shared, %b) {{format={8}, shape=[{2}, {1}], "
              "input_format={6}}} : f32[{0}, {2}]\n"
              "%z = cast(%n:0) {{dtype=\"f32\"}} : f32[{0}, {1}]\noutput y = %y\noutput z = %z\n",
              tokens, columns, rows, given.at("codes").count(), given.at("shared").count(), values,
              kByToken, to_string(codes), to_string(weight)),
          .given = given,
          .relative = values == "bf16" ? 0x1p-7 / kUlp : 0,
          .absolute = 0.04};
}

// Few and many rows, for which GPUs use tiles of different sizes; several block sizes and kinds of scales; wide rows.
std::vector<KernelCase> coded_product_cases() {
  std::vector<KernelCase> cases;
  constexpr std::string_view kByRow = "int(bits=8,per=row,scale=dynamic)",
                             kByToken = "int(bits=8,per=token)", kBlocks = "mxint(bits=8,block=32)";
  for (const CodedProduct& product : std::initializer_list<CodedProduct>{
           {1, 96, 190, kByRow, kByToken},
           {240, 500, 190, kByRow, kByToken},
           {240, 100, 190, kByRow, kByToken},
           {240, 100, 192, kByRow, kByToken, "bf16"},
           {39, 100, 72, kByRow, kByToken, "f16"},
           {2, 1100, 3, kByRow, kByToken},
           {2, 8300, 3, kByRow, kByToken},
           {1, 96, 190, kBlocks, kBlocks},
           {240, 500, 190, kBlocks, kBlocks},
           {240, 100, 190, kBlocks, kBlocks},
           {39, 100, 72, kBlocks, kBlocks, "bf16"},
           {240, 90, 190, "mxint(bits=4,block=16)", "mxint(bits=8,block=16)"},
           {3, 200, 70, "mxint(bits=8,block=48)", "mxint(bits=8,block=48)"},
           {39, 300, 70, "mxint(bits=6,block=128)", "mxint(bits=8,block=128)"},
           {17, 20, 70, kBlocks, kBlocks},
           {17, 128, 70, "mxfp(element=e2m1)", kBlocks},
           {17, 130, 70, "int(bits=8,group=32)", kBlocks},
           {17, 130, 70, "int(bits=4,group=64,range=affine)", "mxint(bits=8,block=64)"}})
    cases.push_back(coded_product_case(product));
  cases.push_back(norm_codes_case(5, 33, 7));
  cases.push_back(norm_codes_case(301, 200, 7));
  cases.push_back(norm_codes_case(5, 1000, 7, "bf16"));
  return cases;
}

std::vector<KernelCase> other_cases() {
  std::vector<KernelCase> cases;
  for (const int padding : {-1, 3}) {
    cases.push_back({.text = fmt::format(R"(%ids = input : i64[7, 31]
%table = input : f32[101, 33]
%dy = input : f32[7, 31, 33]
%y = embedding(%ids, %table) {{padding={0}}} : f32[7, 31, 33]
%d = embedding_gradient(%ids, %dy) {{padding={0}, rows=101}} : f32[101, 33]
%some = embedding_gradient_by_row(%ids, %dy) {{padding={0}, rows=101}} : i64[7, 31], f32[7, 31, 33]
output y = %y
output d = %d
output rows = %some
output sums = %some:1
)",
                                         padding),
                     .integers_below = 101,
                     .absolute = sum_of(16)});  // no row occurs more often
  }
  cases.push_back({.text = R"(%x = input : f32[3, 7, 33]
%key = input : i64[]
%y = dropout(%x, %key) {p=0.1, stream=5, limits=[3, 11, 34]} : f32[3, 7, 33]
output y = %y
)",
                   .integers_below = 1000});
  // Rows of one block, and of several blocks in several chunks.
  for (const auto& [tokens, columns] : {std::array<int, 2>{7, 33}, {1037, 65}, {40, 6001}})
    cases.push_back({.text = fmt::format(R"(%x = input : f32[3, {0}, {1}]
%key = input : i64[]
%w = input : f32[5, {1}]
%dy = input : f32[3, {0}, 5]
%places = input : i64[3, {0}]
%y = dropped_linear(%x, %key, %w) {{p=0.1, stream=5, limits=[3, {2}, {1}]}} : f32[3, {0}, 5]
%d = dropped_linear_gradient(%x, %key, %w, %dy) {{p=0.1, stream=5, limits=[3, {2}, {1}]}} : f32[3, {0}, {1}], f32[5, {1}]
%py = dropped_linear(%x, %key, %w, %places) {{p=0.1, stream=5}} : f32[3, {0}, 5]
%pd = dropped_linear_gradient(%x, %key, %w, %dy, %places) {{p=0.1, stream=5}} : f32[3, {0}, {1}], f32[5, {1}]
%alone = dropout(%x, %key, %places) {{p=0.1, stream=5}} : f32[3, {0}, {1}]
output y = %y
output dx = %d:0
output dw = %d:1
output placed_y = %py
output placed_dx = %pd:0
output placed_dw = %pd:1
output placed = %alone
)",
                                         tokens, columns, tokens + 4),
                     .integers_below = 1000,
                     .absolute = 2 * sum_of(std::max(3 * tokens, columns))});
  for (const char* shape : {"[13]", "[3, 1037, 33]"}) {
    cases.push_back({.text = fmt::format(R"(%x = input : f32{0}
%key = input : i64[]
%y = dropout(%x, %key) {{p=0.1, stream=5}} : f32{0}
output y = %y
)",
                                         shape),
                     .integers_below = 1000});
    cases.push_back({.text = fmt::format(R"(%a = input : f32{0}
%b = input : f32[7]
%y = global_norm(%a, %b) : f32[]
output y = %y
)",
                                         shape),
                     .relative = 4});
    for (const std::int64_t first : {0, 1})
      cases.push_back({.text = fmt::format(R"(%s = input : f32{0}
%x = input : f32{0}
%first = input : i64[]
%new = accumulate(%s, %x, %first) : f32{0}
output y = %new
)",
                                           shape),
                       .given = {{"first", Tensor::scalar(first)}}});
    cases.push_back({.text = fmt::format(R"(%p = input : f32{0}
%g = input : f32{0}
%m = input : f32{0}
%root = input : f32{0}
%v = mul(%root, %root) : f32{0}
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%new = adamw(%p, %g, %m, %v, %norm, %rate, %step) {{beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01, max_grad_norm=1.0}} : f32{0}, f32{0}, f32{0}
output p = %new
output m = %new:1
output v = %new:2
)",
                                         shape),
                     .given = {{"norm", Tensor::scalar(3.0f)},
                               {"rate", Tensor::scalar(0.125f)},
                               {"step", Tensor::scalar<std::int64_t>(3)}},
                     .relative = 4,
                     .absolute = 16 * kUlp});
  }
  for (const double decay : {0.0, 0.01})
    cases.push_back({.text = fmt::format(R"(%p = input : f32[1037, 33]
%ids = input : i64[7, 31]
%dy = input : f32[7, 31, 33]
%g = embedding_gradient_by_row(%ids, %dy) {{padding=3, rows=1037}} : i64[7, 31], f32[7, 31, 33]
%m = input : f32[1037, 33]
%root = input : f32[1037, 33]
%v = mul(%root, %root) : f32[1037, 33]
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%new = adamw_by_row(%p, %g, %g:1, %m, %v, %norm, %rate, %step) {{beta1=0.9, beta2=0.999, eps=1e-08, weight_decay={}, max_grad_norm=1.0}} : f32[1037, 33], f32[1037, 33], f32[1037, 33]
output p = %new
output m = %new:1
output v = %new:2
)",
                                         decay == 0 ? "0.0" : "0.01"),
                     .integers_below = 1037,
                     .given = {{"norm", Tensor::scalar(3.0f)},
                               {"rate", Tensor::scalar(0.125f)},
                               {"step", Tensor::scalar<std::int64_t>(3)}},
                     .relative = 4,
                     .absolute = sum_of(8)});
  for (const auto& [to, terms] : {std::pair<const char*, int>{"[]", 14 * 33 * 5},
                                  {"[5]", 14 * 33},
                                  {"[14, 1, 5]", 33},
                                  {"[1, 33, 1]", 14 * 5},
                                  {"[14, 33, 5]", 1}}) {
    cases.push_back({.text = fmt::format(R"(%x = input : f32[14, 33, 5]
%y = sum_to(%x) {{shape={0}}} : f32{0}
output y = %y
)",
                                         to),
                     .absolute = sum_of(terms)});
  }
  return cases;
}

// Values in bfloat16. Kernel and reference each round once to 8 bits. A slightly different unrounded value can change
// the last bit, which is at most 2^-7 of the value.
constexpr double kBf16Ulp = 0x1p-7 / kUlp;

// `body` maps %x and %dy, both bf16[shape], to %y of the same type.
KernelCase in_bf16(const std::string& body, const std::string& shape, double relative,
                   double absolute) {
  return {.text = fmt::format(R"(%x0 = input : f32{0}
%dy0 = input : f32{0}
%x = cast(%x0) {{dtype="bf16"}} : bf16{0}
%dy = cast(%dy0) {{dtype="bf16"}} : bf16{0}
%y0 = {1} : bf16{0}
%y = cast(%y0) {{dtype="f32"}} : f32{0}
output y = %y
)",
                              shape, body),
          .relative = relative,
          .absolute = absolute};
}

std::vector<KernelCase> bf16_cases() {
  std::vector<KernelCase> cases;
  for (const char* shape : {"[1]", "[13]", "[3, 1037, 33]"}) {
    cases.push_back(in_bf16("add(%x, %dy)", shape, 0, 0));
    for (const char* approximate : {"none", "tanh"}) {
      const std::string tail = fmt::format(" {{approximate=\"{}\"}}", approximate);
      cases.push_back(in_bf16("gelu(%x)" + tail, shape, kBf16Ulp, 4 * kUlp));
      cases.push_back(in_bf16("gelu_gradient(%x, %dy)" + tail, shape, kBf16Ulp, 16 * kUlp));
    }
    // Operations without their own bf16 kernels are widened: in pairs, by a kernel, and by the reference.
    cases.push_back(in_bf16("mul(%x, %dy)", shape, 0, 0));
    cases.push_back(in_bf16("tanh_gradient(%x, %dy)", shape, kBf16Ulp, 16 * kUlp));
  }
  for (const auto& [rows, columns] : {std::array<int, 2>{1, 1}, {7, 33}, {1037, 65}, {40, 6001}})
    cases.push_back({.text = fmt::format(R"(%x0 = input : f32[3, {0}, {1}]
%gamma = input : f32[{1}]
%beta = input : f32[{1}]
%key = input : i64[]
%places = input : i64[3, {0}]
%x = cast(%x0) {{dtype="bf16"}} : bf16[3, {0}, {1}]
%n = layer_norm(%x, %gamma, %beta) {{eps=1e-05}} : bf16[3, {0}, {1}]
%d = dropout(%x, %key, %places) {{p=0.1, stream=5}} : bf16[3, {0}, {1}]
%s = sum_to(%x) {{shape=[{1}]}} : bf16[{1}]
%part = slice(%x) {{axis=1, begin=0, size=[1]}} : bf16[3, 1, {1}]
%normalized = cast(%n) {{dtype="f32"}} : f32[3, {0}, {1}]
%dropped = cast(%d) {{dtype="f32"}} : f32[3, {0}, {1}]
%sum = cast(%s) {{dtype="f32"}} : f32[{1}]
%first = cast(%part) {{dtype="f32"}} : f32[3, 1, {1}]
output normalized = %normalized
output dropped = %dropped
output sum = %sum
output first = %first
)",
                                         rows, columns),
                     .integers_below = 1000,
                     .relative = kBf16Ulp,
                     .absolute = 32 * kUlp + sum_of(3 * rows)});
  for (const auto& [m, n, k] :
       {std::array<int, 3>{1, 1, 1}, {7, 17, 33}, {131, 67, 259}, {300, 67, 8}, {20, 70, 1601}})
    cases.push_back({.text = fmt::format(R"(%x0 = input : f32[{0}, {2}]
%w0 = input : f32[{1}, {2}]
%b0 = input : f32[{1}]
%r0 = input : f32[{0}, {1}]
%x = cast(%x0) {{dtype="bf16"}} : bf16[{0}, {2}]
%w = cast(%w0) {{dtype="bf16"}} : bf16[{1}, {2}]
%b = cast(%b0) {{dtype="bf16"}} : bf16[{1}]
%r = cast(%r0) {{dtype="bf16"}} : bf16[{0}, {1}]
%h0 = linear(%x, %w) : bf16[{0}, {1}]
%h1 = linear(%x, %w, %b) : bf16[{0}, {1}]
%h2 = fused_linear(%x, %w, %b, %r) {{activation="gelu"}} : bf16[{0}, {1}]
%h3 = fused_linear(%x, %w, %b) {{activation="relu"}} : bf16[{0}, {1}]
%h4 = linear_weight_gradient(%x, %r) : bf16[{1}, {2}]
%h5 = matmul(%r, %w) : bf16[{0}, {2}]
%turned = transpose(%w) {{axes=[1, 0]}} : bf16[{2}, {1}]
%h6 = matmul(%x, %turned) : bf16[{0}, {1}]
%y0 = cast(%h0) {{dtype="f32"}} : f32[{0}, {1}]
%y1 = cast(%h1) {{dtype="f32"}} : f32[{0}, {1}]
%y2 = cast(%h2) {{dtype="f32"}} : f32[{0}, {1}]
%y3 = cast(%h3) {{dtype="f32"}} : f32[{0}, {1}]
%y4 = cast(%h4) {{dtype="f32"}} : f32[{1}, {2}]
%y5 = cast(%h5) {{dtype="f32"}} : f32[{0}, {2}]
%y6 = cast(%h6) {{dtype="f32"}} : f32[{0}, {1}]
output y0 = %y0
output y1 = %y1
output y2 = %y2
output y3 = %y3
output y4 = %y4
output y5 = %y5
output y6 = %y6
)",
                                         m, n, k),
                     .relative = kBf16Ulp,
                     .absolute = 1.13 * sum_of(std::max({m, n, k}) + 1) + 8 * kUlp});
  // Products that one thread computes each, and products that all threads share.
  for (const auto& [texts, m, n, k] :
       {std::array<int, 4>{2, 1, 1, 1}, {2, 5, 7, 3}, {3, 50, 131, 16}, {2, 9, 512, 1040}})
    cases.push_back({.text = fmt::format(R"(%a0 = input : f32[{0}, 2, {1}, {3}]
%b0 = input : f32[{0}, {2}, 2, {3}]
%one0 = input : f32[1, 2, {3}, {2}]
%a = cast(%a0) {{dtype="bf16"}} : bf16[{0}, 2, {1}, {3}]
%b = cast(%b0) {{dtype="bf16"}} : bf16[{0}, {2}, 2, {3}]
%one = cast(%one0) {{dtype="bf16"}} : bf16[1, 2, {3}, {2}]
%turned = transpose(%b) {{axes=[0, 2, 3, 1]}} : bf16[{0}, 2, {3}, {2}]
%h0 = matmul(%a, %turned) : bf16[{0}, 2, {1}, {2}]
%h1 = matmul(%a, %one) : bf16[{0}, 2, {1}, {2}]
%h2 = scale(%a) {{factor=0.3}} : bf16[{0}, 2, {1}, {3}]
%h3 = softmax(%a) : bf16[{0}, 2, {1}, {3}]
%y0 = cast(%h0) {{dtype="f32"}} : f32[{0}, 2, {1}, {2}]
%y1 = cast(%h1) {{dtype="f32"}} : f32[{0}, 2, {1}, {2}]
%y2 = cast(%h2) {{dtype="f32"}} : f32[{0}, 2, {1}, {3}]
%y3 = cast(%h3) {{dtype="f32"}} : f32[{0}, 2, {1}, {3}]
output y0 = %y0
output y1 = %y1
output y2 = %y2
output y3 = %y3
)",
                                         texts, m, n, k),
                     .relative = kBf16Ulp,
                     .absolute = 1.13 * sum_of(k + 1) + 8 * kUlp});
  for (const auto& [queries, keys, size, value] :
       {std::array<int, 4>{1, 1, 1, 1}, {5, 7, 3, 9}, {50, 131, 16, 8}, {37, 300, 66, 40}})
    // Weights are rounded to bfloat16, with an error of at most 2^-9 each. So sums of values below 2 have an error of
    // 2^-8, and 4/3 of that if a quarter is dropped.
    cases.push_back(
        {.text = fmt::format(R"(%q0 = input : f32[2, {0}, 3, {2}]
%k0 = input : f32[2, {1}, 3, {2}]
%heads = input : f32[2, 3, {1}, {3}]
%mask = input : f32[2, 1, 1, {1}]
%key = input : i64[]
%q = cast(%q0) {{dtype="bf16"}} : bf16[2, {0}, 3, {2}]
%k = cast(%k0) {{dtype="bf16"}} : bf16[2, {1}, 3, {2}]
%v0 = cast(%heads) {{dtype="bf16"}} : bf16[2, 3, {1}, {3}]
%v = transpose(%v0) {{axes=[0, 2, 1, 3]}} : bf16[2, {1}, 3, {3}]
%h1 = attention(%q, %k, %v) {{scale=0.5}} : bf16[2, {0}, 3, {3}]
%h2 = attention(%q, %k, %v, %mask) {{scale=0.3}} : bf16[2, {0}, 3, {3}]
%h3 = attention(%q, %k, %v, %key, %mask) {{scale=0.5, p=0.25, stream=3}} : bf16[2, {0}, 3, {3}]
%y1 = cast(%h1) {{dtype="f32"}} : f32[2, {0}, 3, {3}]
%y2 = cast(%h2) {{dtype="f32"}} : f32[2, {0}, 3, {3}]
%y3 = cast(%h3) {{dtype="f32"}} : f32[2, {0}, 3, {3}]
output y1 = %y1
output y2 = %y2
output y3 = %y3
)",
                             queries, keys, size, value),
         .integers_below = 1000,
         .relative = kBf16Ulp,
         .absolute = 0x1p-8 * 4 / 3 + 2 * (8 * sum_of(size) + sum_of(keys)) + 16 * kUlp});
  for (const auto& [queries, keys, size, value] :
       {std::array<int, 4>{1, 1, 1, 1}, {5, 7, 3, 9}, {70, 131, 16, 8}, {37, 300, 66, 40}}) {
    // Weights and score gradients are rounded with an error of at most 2^-9 each. Values are below 2, so gradients are
    // below 8 value. The score gradients of one query add up to at most twice the largest. Those of one key add up to
    // at most one for each query.
    const double rounded = 0x1p-9 * 2 * 2 * 8 * value * std::max(2, queries);
    cases.push_back({.text = fmt::format(R"(%q0 = input : f32[2, {0}, 3, {2}]
%k0 = input : f32[2, {1}, 3, {2}]
%heads = input : f32[2, 3, {1}, {3}]
%dy0 = input : f32[2, {0}, 3, {3}]
%mask = input : f32[2, 1, 1, {1}]
%key = input : i64[]
%q = cast(%q0) {{dtype="bf16"}} : bf16[2, {0}, 3, {2}]
%k = cast(%k0) {{dtype="bf16"}} : bf16[2, {1}, 3, {2}]
%v0 = cast(%heads) {{dtype="bf16"}} : bf16[2, 3, {1}, {3}]
%dy = cast(%dy0) {{dtype="bf16"}} : bf16[2, {0}, 3, {3}]
%v = transpose(%v0) {{axes=[0, 2, 1, 3]}} : bf16[2, {1}, 3, {3}]
%a = attention_gradient(%q, %k, %v, %dy, %mask) {{scale=0.5}} : bf16[2, {0}, 3, {2}], bf16[2, {1}, 3, {2}], bf16[2, {1}, 3, {3}]
%b = attention_gradient(%q, %k, %v, %dy, %key) {{scale=0.3, p=0.25, limits=[2, 3, 128, 400]}} : bf16[2, {0}, 3, {2}], bf16[2, {1}, 3, {2}], bf16[2, {1}, 3, {3}]
%dq = cast(%a) {{dtype="f32"}} : f32[2, {0}, 3, {2}]
%dk = cast(%a:1) {{dtype="f32"}} : f32[2, {1}, 3, {2}]
%dv = cast(%a:2) {{dtype="f32"}} : f32[2, {1}, 3, {3}]
%dropped_dq = cast(%b) {{dtype="f32"}} : f32[2, {0}, 3, {2}]
%dropped_dk = cast(%b:1) {{dtype="f32"}} : f32[2, {1}, 3, {2}]
%dropped_dv = cast(%b:2) {{dtype="f32"}} : f32[2, {1}, 3, {3}]
output dq = %dq
output dk = %dk
output dv = %dv
output dropped_dq = %dropped_dq
output dropped_dk = %dropped_dk
output dropped_dv = %dropped_dv
)",
                                         queries, keys, size, value),
                     .integers_below = 1000,
                     .relative = kBf16Ulp,
                     .absolute = rounded + 256 * kUlp});
  }
  return cases;
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  for (const auto& part :
       {element_wise_cases(), formula_cases(), pruning_cases(), strided_and_broadcast_cases(),
        row_cases(), loss_cases(), product_cases(), attention_cases(), packed_cases(),
        wide_packed_cases(), coded_product_cases(), bf16_cases(), other_cases()})
    cases.insert(cases.end(), part.begin(), part.end());
  return cases;
}

NamedTensors draw_inputs(const Graph& graph, const KernelCase& kernel_case, std::uint64_t seed) {
  NamedTensors inputs = kernel_case.given;
  for (const Node* node : graph.of_kind(NodeKind::input)) {
    if (kernel_case.given.contains(node->name())) continue;
    RandomSequence random(seed, stream_of(node->name()));
    const Type& type = node->types()[0];
    Tensor tensor = Tensor::empty(type.dtype, resolve(type.shape, {}));
    if (type.dtype == DType::f32) {
      for (float& value : tensor.values<float>())
        value = static_cast<float>(4 * random.uniform() - 2);
    } else if (type.dtype == DType::boolean) {
      for (bool& value : tensor.values<bool>()) value = random.below(2) == 1;
    } else {
      for (std::int64_t& value : tensor.values<std::int64_t>()) {
        value = static_cast<std::int64_t>(random.below(
            static_cast<std::uint64_t>(std::max<std::int64_t>(kernel_case.integers_below, 1))));
      }
    }
    inputs.emplace(node->name(), tensor);
  }
  return inputs;
}

}  // namespace hone::testing
