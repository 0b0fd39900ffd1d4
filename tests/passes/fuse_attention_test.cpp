#include "hone/passes/fuse_attention.h"

#include <fmt/core.h>

#include "hone/base/random.h"
#include "tests/passes/before_after.h"
#include "tests/support/evaluate.h"

namespace hone::testing {
namespace {

// As frontends build it, up to the split into heads.
constexpr std::string_view kInputs = R"(%q = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%v = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
)";
constexpr std::string_view kHeads = R"(%query = transpose(%q) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 4]
%key = transpose(%k) {axes=[0, 2, 3, 1]} : f32[B, 2, 4, S]
%value = transpose(%v) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 4]
%scores = matmul(%query, %key) : f32[B, 2, S, S]
)";
constexpr std::string_view kSoftmax = R"(%scaled = scale(%scores) {factor=0.5} : f32[B, 2, S, S]
%masked = add(%scaled, %mask) : f32[B, 2, S, S]
%weights = softmax(%masked) : f32[B, 2, S, S]
)";
constexpr std::string_view kContext = R"(%context = matmul(%weights, %value) : f32[B, 2, S, 4]
%tokens = transpose(%context) {axes=[0, 2, 1, 3]} : f32[B, S, 2, 4]
%y = reshape(%tokens) {shape=[B, S, 8]} : f32[B, S, 8]
output y = %y
)";

std::string steps(std::string_view between = "", std::string_view context = kContext) {
  return fmt::format("{}{}{}{}{}", kInputs, kHeads, kSoftmax, between, context);
}

TEST(FuseAttention, ReadsAndLeavesHeadsWhereTheyStoodBeforeTheyWereTransposed) {
  expect_after(
      steps(), fuse_attention,
      fmt::format(
          "{}{}", kInputs,
          R"(%context.fused = attention(%q, %k, %v, %mask) {scale=0.5, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, S, 2, 4]
%y = reshape(%context.fused) {shape=[B, S, 8]} : f32[B, S, 8]
output y = %y
)"));
}

TEST(FuseAttention, TransposesWhatComesAsHeads) {
  expect_after(R"(%query = input : f32[B, 2, S, 4]
%key = input : f32[B, 2, 4, T]
%value = input : f32[B, 2, T, 3]
%scores = matmul(%query, %key) : f32[B, 2, S, T]
%weights = softmax(%scores) : f32[B, 2, S, T]
%context = matmul(%weights, %value) : f32[B, 2, S, 3]
output context = %context
)",
               fuse_attention,
               R"(%query = input : f32[B, 2, S, 4]
%key = input : f32[B, 2, 4, T]
%value = input : f32[B, 2, T, 3]
%query.tokens = transpose(%query) {axes=[0, 2, 1, 3]} : f32[B, S, 2, 4]
%key.tokens = transpose(%key) {axes=[0, 3, 1, 2]} : f32[B, T, 2, 4]
%value.tokens = transpose(%value) {axes=[0, 2, 1, 3]} : f32[B, T, 2, 3]
%context.fused = attention(%query.tokens, %key.tokens, %value.tokens) {scale=1.0, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, S, 2, 3]
%context.heads = transpose(%context.fused) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 3]
output context = %context.heads
)");
}

TEST(FuseAttention, FindsOneHeadThatHasNoAxis) {
  constexpr std::string_view inputs = R"(%random_key = input : i64[]
%q = input : f32[B, S, 4]
%k = input : f32[B, T, 4]
%v = input : f32[B, T, 3]
%mask = input : f32[B, 1, T]
)";
  expect_after(
      fmt::format("{}{}", inputs, R"(%key = transpose(%k) {axes=[0, 2, 1]} : f32[B, 4, T]
%scores = matmul(%q, %key) : f32[B, S, T]
%scaled = scale(%scores) {factor=0.5} : f32[B, S, T]
%masked = add(%scaled, %mask) : f32[B, S, T]
%weights = softmax(%masked) : f32[B, S, T]
%left = dropout(%weights, %random_key) {p=0.1, stream=7, limits=[B, 64, 64]} : f32[B, S, T]
%context = matmul(%left, %v) : f32[B, S, 3]
output context = %context
)"),
      fuse_attention,
      fmt::format("{}{}", inputs, R"(%q.head = reshape(%q) {shape=[B, S, 1, 4]} : f32[B, S, 1, 4]
%k.head = reshape(%k) {shape=[B, T, 1, 4]} : f32[B, T, 1, 4]
%v.head = reshape(%v) {shape=[B, T, 1, 3]} : f32[B, T, 1, 3]
%mask.head = reshape(%mask) {shape=[B, 1, 1, T]} : f32[B, 1, 1, T]
%context.fused = attention(%q.head, %k.head, %v.head, %random_key, %mask.head) {scale=0.5, p=0.1, stream=7, limits=[B, 1, 64, 64], unpadded=false, rest=false} : f32[B, S, 1, 3]
%context.tokens = reshape(%context.fused) {shape=[B, S, 3]} : f32[B, S, 3]
output context = %context.tokens
)"));
}

// On the reference kernels, which sum in double. Results differ only by the rounding of intermediate steps.
TEST(FuseAttention, OfOneHeadGivesWhatItsStepsGive) {
  const auto values = [](const Sizes& sizes, std::uint64_t seed) {
    RandomSequence random(seed, stream_of("attention"));
    std::vector<float> drawn(static_cast<std::size_t>(element_count(sizes)));
    for (float& value : drawn) value = static_cast<float>(random.normal());
    return Tensor::of<float>(sizes, drawn);
  };
  const NamedTensors inputs = {{"q", values({2, 3, 4}, 1)},
                               {"k", values({2, 5, 4}, 2)},
                               {"v", values({2, 5, 3}, 3)},
                               {"mask", values({2, 1, 5}, 4)}};
  Graph graph = parse(R"(%q = input : f32[B, S, 4]
%k = input : f32[B, T, 4]
%v = input : f32[B, T, 3]
%mask = input : f32[B, 1, T]
%key = transpose(%k) {axes=[0, 2, 1]} : f32[B, 4, T]
%scores = matmul(%q, %key) : f32[B, S, T]
%scaled = scale(%scores) {factor=0.5} : f32[B, S, T]
%masked = add(%scaled, %mask) : f32[B, S, T]
%weights = softmax(%masked) : f32[B, S, T]
%y = matmul(%weights, %v) : f32[B, S, 3]
output y = %y
)");
  const std::vector<float> steps = elements_of(run_graph(graph, inputs).at("y"));
  ASSERT_TRUE(fuse_attention(graph));
  const std::vector<float> fused = elements_of(run_graph(graph, inputs).at("y"));
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_NEAR(fused[i], steps[i], 1e-6) << i;
}

TEST(FuseAttention, FindsTheMaskOnEitherSideAndOfAllTexts) {
  expect_after(R"(%heads = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%mask = input : f32[1, 1, 1, S]
%x = transpose(%heads) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 4]
%key = transpose(%k) {axes=[0, 2, 3, 1]} : f32[B, 2, 4, S]
%scores = matmul(%x, %key) : f32[B, 2, S, S]
%masked = add(%mask, %scores) : f32[B, 2, S, S]
%weights = softmax(%masked) : f32[B, 2, S, S]
%context = matmul(%weights, %x) : f32[B, 2, S, 4]
%y = relu(%context) : f32[B, 2, S, 4]
output y = %y
)",
               fuse_attention,
               R"(%heads = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%mask = input : f32[1, 1, 1, S]
%context.fused = attention(%heads, %k, %heads, %mask) {scale=1.0, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, S, 2, 4]
%context.heads = transpose(%context.fused) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 4]
%y = relu(%context.heads) : f32[B, 2, S, 4]
output y = %y
)");
}

// As written by hand: heads are split first, keys are transposed after that, and the scale is applied in one of several
// places.
std::string by_hand(std::string_view query, std::string_view key, std::string_view scores,
                    std::string_view mask = "") {
  return fmt::format(R"(%q = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%v = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
%query = transpose(%q) {{axes=[0, 2, 1, 3]}} : f32[B, 2, S, 4]
%heads = transpose(%k) {{axes=[0, 2, 1, 3]}} : f32[B, 2, S, 4]
%key = transpose(%heads) {{axes=[0, 1, 3, 2]}} : f32[B, 2, 4, S]
%value = transpose(%v) {{axes=[0, 2, 1, 3]}} : f32[B, 2, S, 4]
{}{}%product = matmul(%{}, %{}) : f32[B, 2, S, S]
{}{}%weights = softmax(%{}) : f32[B, 2, S, S]
%context = matmul(%weights, %value) : f32[B, 2, S, 4]
%y = transpose(%context) {{axes=[0, 2, 1, 3]}} : f32[B, S, 2, 4]
output y = %y
)",
                     query, key, query.empty() ? "query" : "less", key.empty() ? "key" : "small",
                     scores, mask,
                     !mask.empty()     ? "masked"
                     : !scores.empty() ? "scaled"
                                       : "product");
}

std::string by_one_operation(std::string_view operands, std::string_view scale) {
  return fmt::format(R"(%q = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%v = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
%context.fused = attention({}) {{scale={}, p=0.0, stream=0, limits=[], unpadded=false, rest=false}} : f32[B, S, 2, 4]
output y = %context.fused
)",
                     operands, scale);
}

TEST(FuseAttention, FindsWhatIsScaledBeforeTheProductOrBehindItWithAMaskAndWithout) {
  const std::string query = "%less = scale(%query) {factor=0.5} : f32[B, 2, S, 4]\n",
                    key = "%small = scale(%key) {factor=0.25} : f32[B, 2, 4, S]\n",
                    scores = "%scaled = scale(%product) {factor=0.5} : f32[B, 2, S, S]\n",
                    mask = "%masked = add(%product, %mask) : f32[B, 2, S, S]\n",
                    both = "%masked = add(%scaled, %mask) : f32[B, 2, S, S]\n";
  expect_after(by_hand("", "", ""), fuse_attention, by_one_operation("%q, %k, %v", "1.0"));
  expect_after(by_hand(query, "", ""), fuse_attention, by_one_operation("%q, %k, %v", "0.5"));
  expect_after(by_hand(query, key, ""), fuse_attention, by_one_operation("%q, %k, %v", "0.125"));
  expect_after(by_hand("", "", scores), fuse_attention, by_one_operation("%q, %k, %v", "0.5"));
  expect_after(by_hand("", key, "", mask), fuse_attention,
               by_one_operation("%q, %k, %v, %mask", "0.25"));
  expect_after(by_hand(query, "", scores, both), fuse_attention,
               by_one_operation("%q, %k, %v, %mask", "0.25"));
}

TEST(FuseAttention, DropsWeightsAsTheyWereDropped) {
  const std::string
      key = "%random_key = input : i64[]\n",
      drop =
          "%left = dropout(%weights, %random_key) {p=0.1, stream=7, limits=[B, 2, 64, "
          "64]} : f32[B, 2, S, S]\n";
  std::string context(kContext);
  context.replace(context.find("%weights"), 8, "%left");
  expect_after(
      key + steps(drop, context), fuse_attention,
      fmt::format(
          "{}{}{}", key, kInputs,
          R"(%context.fused = attention(%q, %k, %v, %random_key, %mask) {scale=0.5, p=0.1, stream=7, limits=[B, 2, 64, 64], unpadded=false, rest=false} : f32[B, S, 2, 4]
%y = reshape(%context.fused) {shape=[B, S, 8]} : f32[B, S, 8]
output y = %y
)"));
}

void expect_untouched(const std::string& text) {
  SCOPED_TRACE(text);
  expect_after(text, fuse_attention, text);
}

TEST(FuseAttention, LeavesStepsThatAreReadOrKeptOrHaveSomethingBetweenThem) {
  const std::string kept = "output weights = %weights\n",
                    read = "%seen = relu(%scaled) : f32[B, 2, S, S]\n";
  expect_untouched(steps() + kept);
  expect_untouched(steps() + "output scores = %scores\n");
  expect_untouched(steps(read) + "output seen = %seen\n");
  const std::string rounded =
      "%rounded = quantize(%weights) {format=integer(width=8,frac=5)} : f32[B, 2, S, S]\n";
  std::string context(kContext);
  context.replace(context.find("%weights"), 8, "%rounded");
  expect_untouched(steps(rounded, context));
}

TEST(FuseAttention, LeavesMasksThatDifferFromQueryToQuery) {
  std::string text = steps();
  text.replace(text.find("[B, 1, 1, S]"), 12, "[B, 1, S, S]");
  expect_untouched(text);
}

TEST(FuseAttention, LeavesProductsThatStretchAnOperand) {
  expect_untouched(R"(%query = input : f32[B, 2, S, 4]
%key = input : f32[4, S]
%value = input : f32[B, 2, S, 3]
%scores = matmul(%query, %key) : f32[B, 2, S, S]
%weights = softmax(%scores) : f32[B, 2, S, S]
%context = matmul(%weights, %value) : f32[B, 2, S, 3]
output context = %context
)");
}

}  // namespace
}  // namespace hone::testing
