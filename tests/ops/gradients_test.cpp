#include <gtest/gtest.h>

#include <set>

#include "tests/ops/gradient_check.h"
#include "tests/support/evaluate.h"

// One row for each use of a differentiable operation. The row's gradients are compared with central differences. The
// last test fails for an operation that has a gradient but no row.
namespace hone::testing {
namespace {

const std::vector<GradientCase>& gradient_cases() {
  static const std::vector<GradientCase> cases = {
      {.name = "add of equal shapes", .text = R"(%a = input : f32[2, 3]
%b = input : f32[2, 3]
%y = add(%a, %b) : f32[2, 3]
output y = %y)"},
      {.name = "add with broadcasting on both sides", .text = R"(%a = input : f32[2, 1, 3]
%b = input : f32[4, 1]
%y = add(%a, %b) : f32[2, 4, 3]
output y = %y)"},
      {.name = "attention with a mask", .text = R"(%q = input : f32[2, 3, 2, 2]
%k = input : f32[2, 4, 2, 2]
%v = input : f32[2, 4, 2, 3]
%mask = input : f32[2, 1, 1, 4]
%y = attention(%q, %k, %v, %mask) {scale=0.7} : f32[2, 3, 2, 3]
output y = %y)"},
      {.name = "attention of a value to itself that drops weights",
       .text = R"(%x = input : f32[2, 3, 2, 2]
%key = input : i64[]
%y = attention(%x, %x, %x, %key) {scale=0.7, p=0.4, stream=7, limits=[2, 2, 5, 5]} : f32[2, 3, 2, 2]
output y = %y)",
       .fixed = {{"key", Tensor::scalar<std::int64_t>(3)}}},
      {.name = "attention of texts one behind the other that drops weights",
       .text = R"(%q = input : f32[1, 5, 2, 2]
%k = input : f32[1, 5, 2, 2]
%v = input : f32[1, 5, 2, 3]
%key = input : i64[]
%begins = input : i64[2]
%lengths = input : i64[2]
%y = attention(%q, %k, %v, %key, %begins, %lengths) {scale=0.7, p=0.4, stream=7, limits=[2, 2, 5, 5], unpadded=true} : f32[1, 5, 2, 3]
output y = %y)",
       .fixed = {{"key", Tensor::scalar<std::int64_t>(3)},
                 {"begins", Tensor::of<std::int64_t>({2}, {0, 3})},
                 {"lengths", Tensor::of<std::int64_t>({2}, {3, 2})}}},
      {.name = "binary_cross_entropy",
       .text = R"(%logits = input : f32[4, 3]
%targets = input : f32[4, 3]
%y = binary_cross_entropy(%logits, %targets) : f32[]
output y = %y)",
       .fixed = {{"targets",
                  Tensor::of<float>({4, 3}, {0, 1, 1, 0, 0.25f, 0, 1, 0.5f, 1, 1, 0, 0})}}},
      // A cast to half precision and back is a step function, so differences would not work.
      {.name = "cast", .text = R"(%x = input : f32[5]
%y = cast(%x) {dtype="f32"} : f32[5]
output y = %y)"},
      {.name = "batch_norm_training", .text = R"(%x = input : f32[3, 2, 1, 2]
%gamma = input : f32[2]
%beta = input : f32[2]
%y = batch_norm_training(%x, %gamma, %beta) : f32[3, 2, 1, 2], f32[2], f32[2]
output y = %y)"},
      {.name = "conv2d with a bias, padding, stride and groups",
       .text = R"(%x = input : f32[2, 2, 4, 3]
%weight = input : f32[4, 1, 3, 2]
%bias = input : f32[4]
%y = conv2d(%x, %weight, %bias) {stride=2, padding=1, groups=2} : f32[2, 4, 2, 2]
output y = %y)"},
      {.name = "conv2d with dilation", .text = R"(%x = input : f32[1, 2, 4, 5]
%weight = input : f32[3, 2, 2, 2]
%y = conv2d(%x, %weight) {dilation=2, padding=1} : f32[1, 3, 4, 5]
output y = %y)"},
      {.name = "global_average_pool", .text = R"(%x = input : f32[2, 3, 2, 2]
%y = global_average_pool(%x) : f32[2, 3]
output y = %y)"},
      // Values in a window are further apart than the step of the differences.
      {.name = "max_pool2d",
       .text = R"(%x = input : f32[1, 2, 4, 4]
%spread = input : f32[1, 2, 4, 4]
%s = scale(%x) {factor=0.05} : f32[1, 2, 4, 4]
%apart = add(%s, %spread) : f32[1, 2, 4, 4]
%y = max_pool2d(%apart) {kernel=3, stride=2, padding=1} : f32[1, 2, 2, 2]
output y = %y)",
       .fixed = {{"spread",
                  Tensor::of<float>({1, 2, 4, 4},
                                    {3, 9, 1, 7, 14, 2, 11, 5, 8, 16, 4,  12, 6,  10, 15, 13,
                                     5, 2, 8, 1, 12, 9, 3,  6, 7, 16, 10, 4,  13, 11, 14, 15})}}},
      {.name = "concat of a value twice around another", .text = R"(%a = input : f32[2, 3]
%b = input : f32[2, 1]
%y = concat(%a, %b, %a) {axis=1} : f32[2, 7]
output y = %y)"},
      {.name = "cross_entropy with a row that does not count",
       .text = R"(%logits = input : f32[4, 3]
%labels = input : i64[4]
%y = cross_entropy(%logits, %labels) : f32[]
output y = %y)",
       .fixed = {{"labels", Tensor::of<std::int64_t>({4}, {2, 0, -100, 1})}}},
      {.name = "cross_entropy with class weights",
       .text = R"(%logits = input : f32[4, 3]
%labels = input : i64[4]
%weights = input : f32[3]
%y = cross_entropy(%logits, %labels, %weights) : f32[]
output y = %y)",
       .fixed = {{"labels", Tensor::of<std::int64_t>({4}, {2, 0, -100, 1})},
                 {"weights", Tensor::of<float>({3}, {0.5f, 3, 1.25f})}}},
      {.name = "dropout of rows with places of their own",
       .text = R"(%x = input : f32[1, 4, 3]
%key = input : i64[]
%places = input : i64[1, 4]
%y = dropout(%x, %key, %places) {p=0.4, stream=7} : f32[1, 4, 3]
output y = %y)",
       .fixed = {{"key", Tensor::scalar<std::int64_t>(3)},
                 {"places", Tensor::of<std::int64_t>({1, 4}, {0, 1, 8, 9})}}},
      {.name = "take_rows",
       .text = R"(%x = input : f32[1, 4, 3]
%rows = input : i64[2]
%y = take_rows(%x, %rows) : f32[2, 1, 3]
output y = %y)",
       .fixed = {{"rows", Tensor::of<std::int64_t>({2}, {0, 2})}}},
      {.name = "dropout",
       .text = R"(%x = input : f32[3, 5]
%key = input : i64[]
%y = dropout(%x, %key) {p=0.4, stream=7, limits=[3, 9]} : f32[3, 5]
output y = %y)",
       .fixed = {{"key", Tensor::scalar<std::int64_t>(3)}}},
      {.name = "elementwise of several results and stretched operands",
       .text = R"graph(%a = input : f32[2, 3]
%b = input : f32[3]
%kept = input : bool[2, 1]
%p = elementwise(%a, %b, %kept) {formula="t0 = x0 * x1; t0; select(0 < x2, tanh(0.25 * t0), x0) * (2 + x1)"} : f32[2, 3], f32[2, 3]
%y = mul(%p:0, %p:1) : f32[2, 3]
output y = %y
output p = %p:1)graph",
       .fixed = {{"kept", booleans({2, 1}, {1, 0})}}},
      {.name = "embedding with a repeated and an unused row",
       .text = R"(%ids = input : i64[2, 2]
%table = input : f32[4, 3]
%y = embedding(%ids, %table) {padding=-1} : f32[2, 2, 3]
output y = %y)",
       .fixed = {{"ids", Tensor::of<std::int64_t>({2, 2}, {3, 0, 3, 1})}}},
      {.name = "full", .text = R"(%x = input : f32[3]
%y = full(%x) {value=2.0, dtype="f32"} : f32[3]
output y = %y)"},
      {.name = "gelu by erf", .text = R"(%x = input : f32[3, 5]
%y = gelu(%x) {approximate="none"} : f32[3, 5]
output y = %y)"},
      {.name = "gelu by tanh", .text = R"(%x = input : f32[3, 5]
%y = gelu(%x) {approximate="tanh"} : f32[3, 5]
output y = %y)"},
      {.name = "layer_norm", .text = R"(%x = input : f32[2, 3, 5]
%gamma = input : f32[5]
%beta = input : f32[5]
%y = layer_norm(%x, %gamma, %beta) {eps=1e-05} : f32[2, 3, 5]
output y = %y)"},
      {.name = "linear with bias over a stack of rows", .text = R"(%x = input : f32[2, 2, 3]
%weight = input : f32[4, 3]
%bias = input : f32[4]
%y = linear(%x, %weight, %bias) : f32[2, 2, 4]
output y = %y)"},
      {.name = "linear without bias", .text = R"(%x = input : f32[3, 2]
%weight = input : f32[4, 2]
%y = linear(%x, %weight) : f32[3, 4]
output y = %y)"},
      {.name = "mask",
       .text = R"(%x = input : f32[2, 3]
%kept = input : bool[2, 3]
%y = mask(%x, %kept) : f32[2, 3]
output y = %y)",
       .fixed = {{"kept", booleans({2, 3}, {1, 0, 1, 1, 0, 0})}}},
      {.name = "threshold",
       .text = R"(%x = input : f32[3, 5]
%least = input : f32[]
%y = threshold(%x, %least) : f32[3, 5]
output y = %y)",
       .fixed = {{"least", Tensor::scalar(0.1f)}}},
      {.name = "matmul", .text = R"(%a = input : f32[3, 2]
%b = input : f32[2, 4]
%y = matmul(%a, %b) : f32[3, 4]
output y = %y)"},
      {.name = "matmul with broadcasting on both sides", .text = R"(%a = input : f32[2, 1, 3, 2]
%b = input : f32[3, 2, 4]
%y = matmul(%a, %b) : f32[2, 3, 3, 4]
output y = %y)"},
      {.name = "mean_squared_error",
       .text = R"(%predictions = input : f32[4, 2]
%targets = input : f32[4, 2]
%y = mean_squared_error(%predictions, %targets) : f32[]
output y = %y)",
       .fixed = {{"targets", Tensor::of<float>({4, 2}, {0.5f, 1, -2, 0, 3, -0.25f, 1, 4})}}},
      {.name = "mul with broadcasting on both sides", .text = R"(%a = input : f32[2, 1, 3]
%b = input : f32[4, 1]
%y = mul(%a, %b) : f32[2, 4, 3]
output y = %y)"},
      {.name = "mul of a value with itself", .text = R"(%a = input : f32[4]
%y = mul(%a, %a) : f32[4]
output y = %y)"},
      {.name = "normalize", .text = R"(%x = input : f32[2, 5]
%y = normalize(%x) {eps=1e-12} : f32[2, 5]
output y = %y)"},
      {.name = "normalize of rows that are shorter than eps", .text = R"(%x = input : f32[2, 5]
%y = normalize(%x) {eps=100.0} : f32[2, 5]
output y = %y)"},
      {.name = "pool_tokens by max",
       .text = R"(%x = input : f32[3, 4, 2]
%mask = input : i64[3, 4]
%y = pool_tokens(%x, %mask) {mode="max"} : f32[3, 2]
output y = %y)",
       .fixed = {{"mask", Tensor::of<std::int64_t>({3, 4}, {1, 1, 1, 0,  //
                                                            0, 0, 0, 0,  //
                                                            0, 1, 0, 1})}}},
      {.name = "pool_tokens by mean",
       .text = R"(%x = input : f32[3, 4, 2]
%mask = input : i64[3, 4]
%y = pool_tokens(%x, %mask) {mode="mean"} : f32[3, 2]
output y = %y)",
       .fixed = {{"mask", Tensor::of<std::int64_t>({3, 4}, {1, 1, 1, 0,  //
                                                            0, 0, 0, 0,  //
                                                            0, 1, 0, 1})}}},
      {.name = "pool_tokens by mean_sqrt_len",
       .text = R"(%x = input : f32[3, 4, 2]
%mask = input : i64[3, 4]
%y = pool_tokens(%x, %mask) {mode="mean_sqrt_len"} : f32[3, 2]
output y = %y)",
       .fixed = {{"mask", Tensor::of<std::int64_t>({3, 4}, {1, 1, 1, 0,  //
                                                            0, 0, 0, 0,  //
                                                            0, 1, 0, 1})}}},
      {.name = "quantize passes the gradient straight through",
       .text = R"(%x = input : f32[6]
%y = quantize(%x) {format=integer(width=8,frac=4)} : f32[6]
output y = %y)",
       .differences_of = R"(%x = input : f32[6]
%y = scale(%x) {factor=1.0} : f32[6]
output y = %y)"},
      {.name = "relu", .text = R"(%x = input : f32[3, 5]
%y = relu(%x) : f32[3, 5]
output y = %y)"},
      {.name = "reshape", .text = R"(%x = input : f32[2, 6]
%y = reshape(%x) {shape=[3, 4]} : f32[3, 4]
output y = %y)"},
      {.name = "scale", .text = R"(%x = input : f32[5]
%y = scale(%x) {factor=-0.75} : f32[5]
output y = %y)"},
      {.name = "slice from the middle", .text = R"(%x = input : f32[2, 5, 2]
%y = slice(%x) {axis=1, begin=1, size=[3]} : f32[2, 3, 2]
output y = %y)"},
      {.name = "soft_cross_entropy with a row that does not count",
       .text = R"(%logits = input : f32[3, 3]
%targets = input : f32[3, 3]
%labels = input : i64[3]
%y = soft_cross_entropy(%logits, %targets, %labels) : f32[]
output y = %y)",
       .fixed = {{"targets",
                  Tensor::of<float>({3, 3}, {0.5f, 0.25f, 0.25f, 1, 0, 0, 0.1f, 0, 0.5f})},
                 {"labels", Tensor::of<std::int64_t>({3}, {2, -100, 0})}}},
      {.name = "soft_cross_entropy with class weights",
       .text = R"(%logits = input : f32[2, 3]
%targets = input : f32[2, 3]
%labels = input : i64[2]
%weights = input : f32[3]
%y = soft_cross_entropy(%logits, %targets, %labels, %weights) : f32[]
output y = %y)",
       .fixed = {{"targets", Tensor::of<float>({2, 3}, {0.5f, 0.25f, 0.25f, 0.75f, 0.25f, 0})},
                 {"labels", Tensor::of<std::int64_t>({2}, {2, 0})},
                 {"weights", Tensor::of<float>({3}, {0.5f, 3, 1.25f})}}},
      {.name = "softmax", .text = R"(%x = input : f32[2, 5]
%y = softmax(%x) : f32[2, 5]
output y = %y)"},
      {.name = "sum_to keeping an axis", .text = R"(%x = input : f32[2, 3, 4]
%y = sum_to(%x) {shape=[3, 1]} : f32[3, 1]
output y = %y)"},
      {.name = "tanh", .text = R"(%x = input : f32[3, 5]
%y = tanh(%x) : f32[3, 5]
output y = %y)"},
      {.name = "transpose that is not its own inverse", .text = R"(%x = input : f32[2, 3, 4]
%y = transpose(%x) {axes=[1, 2, 0]} : f32[3, 4, 2]
output y = %y)"},
      // Gradient operations of formulas are formulas too, so they have gradients.
      {.name = "tanh_gradient", .text = R"(%y = input : f32[3, 5]
%dy = input : f32[3, 5]
%dx = tanh_gradient(%y, %dy) : f32[3, 5]
output dx = %dx)"},
      {.name = "relu_gradient", .text = R"(%y = input : f32[3, 5]
%dy = input : f32[3, 5]
%dx = relu_gradient(%y, %dy) : f32[3, 5]
output dx = %dx)"},
      {.name = "gelu_gradient by erf", .text = R"(%x = input : f32[3, 5]
%dy = input : f32[3, 5]
%dx = gelu_gradient(%x, %dy) {approximate="none"} : f32[3, 5]
output dx = %dx)"},
      {.name = "gelu_gradient by tanh", .text = R"(%x = input : f32[3, 5]
%dy = input : f32[3, 5]
%dx = gelu_gradient(%x, %dy) {approximate="tanh"} : f32[3, 5]
output dx = %dx)"},
      {.name = "threshold_gradient",
       .text = R"(%x = input : f32[3, 5]
%dy = input : f32[3, 5]
%least = input : f32[]
%dx = threshold_gradient(%x, %dy, %least) : f32[3, 5]
output dx = %dx)",
       .fixed = {{"least", Tensor::scalar(0.125f)}}},
  };
  return cases;
}

TEST(Gradients, AreThoseOfCentralDifferences) {
  for (const GradientCase& gradient_case : gradient_cases()) check_gradient(gradient_case);
}

TEST(Gradients, AreCheckedForEveryDifferentiableOperation) {
  std::set<std::string_view> checked;
  for (const GradientCase& gradient_case : gradient_cases()) {
    const Graph graph = parse(gradient_case.text);
    for (const Node* node : graph.of_kind(NodeKind::operation)) checked.insert(node->op().name);
  }
  for (const auto& [name, op] : references().ops) {
    EXPECT_TRUE(op.gradient == nullptr || checked.contains(name))
        << name << " has a gradient but no row in gradient_cases()";
  }
}

}  // namespace
}  // namespace hone::testing
