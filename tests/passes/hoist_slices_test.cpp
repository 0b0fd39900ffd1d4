#include "hone/passes/hoist_slices.h"

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

TEST(HoistSlices, LeavesOperationsOnlyWhatIsRead) {
  expect_after(R"(%x = input : f32[B, S, 4]
%w = parameter weight trainable : f32[3, 4]
%y = linear(%x, %w) : f32[B, S, 3]
%z = gelu(%y) {approximate="none"} : f32[B, S, 3]
%first = slice(%z) {axis=1, begin=0, size=[1]} : f32[B, 1, 3]
output first = %first
)",
               hoist_slices,
               R"(%x = input : f32[B, S, 4]
%w = parameter weight trainable : f32[3, 4]
%x.slice = slice(%x) {axis=1, begin=0, size=[1]} : f32[B, 1, 4]
%y.part = linear(%x.slice, %w) : f32[B, 1, 3]
%z.part = gelu(%y.part) {approximate="none"} : f32[B, 1, 3]
output first = %z.part
)");
}

// As in a residual connection.
TEST(HoistSlices, SliceOnceWhatIsReadTwice) {
  expect_after(R"(%x = input : f32[B, S, 4]
%a = relu(%x) : f32[B, S, 4]
%b = relu(%a) : f32[B, S, 4]
%y = add(%b, %a) : f32[B, S, 4]
%last = slice(%y) {axis=1, begin=2, size=[1]} : f32[B, 1, 4]
output last = %last
)",
               hoist_slices,
               R"(%x = input : f32[B, S, 4]
%x.slice = slice(%x) {axis=1, begin=2, size=[1]} : f32[B, 1, 4]
%a.part = relu(%x.slice) : f32[B, 1, 4]
%b.part = relu(%a.part) : f32[B, 1, 4]
%y.part = add(%b.part, %a.part) : f32[B, 1, 4]
output last = %y.part
)");
}

TEST(HoistSlices, StayBehindMasksOfWeights) {
  const std::string_view text = R"(%w = parameter weight trainable : f32[9, 4]
%w.mask = parameter mask frozen : bool[9, 4]
%w.masked = mask(%w, %w.mask) : f32[9, 4]
%some = slice(%w.masked) {axis=0, begin=0, size=[3]} : f32[3, 4]
output some = %some
)";
  Graph graph = parse(text);
  EXPECT_FALSE(hoist_slices(graph));
  EXPECT_EQ(to_string(graph), text);
}

TEST(HoistSlices, LeaveFusedAttentionOnlyTheQueriesThatAreRead) {
  expect_after(R"(%q = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%v = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
%y = attention(%q, %k, %v, %mask) {scale=0.5} : f32[B, S, 2, 4]
%first = slice(%y) {axis=1, begin=0, size=[1]} : f32[B, 1, 2, 4]
output first = %first
)",
               hoist_slices,
               R"(%q = input : f32[B, S, 2, 4]
%k = input : f32[B, S, 2, 4]
%v = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
%q.slice = slice(%q) {axis=1, begin=0, size=[1]} : f32[B, 1, 2, 4]
%y.part = attention(%q.slice, %k, %v, %mask) {scale=0.5, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, 1, 2, 4]
output first = %y.part
)");
}

TEST(HoistSlices, FollowTheirAxisThroughAttention) {
  expect_after(R"(%q = input : f32[B, S, 8]
%k = input : f32[B, 2, 4, S]
%mask = input : f32[B, 1, 1, S]
%v = input : f32[B, 2, S, 4]
%heads = reshape(%q) {shape=[B, S, 2, 4]} : f32[B, S, 2, 4]
%turned = transpose(%heads) {axes=[0, 2, 1, 3]} : f32[B, 2, S, 4]
%scores = matmul(%turned, %k) : f32[B, 2, S, S]
%masked = add(%scores, %mask) : f32[B, 2, S, S]
%weights = softmax(%masked) : f32[B, 2, S, S]
%context = matmul(%weights, %v) : f32[B, 2, S, 4]
%back = transpose(%context) {axes=[0, 2, 1, 3]} : f32[B, S, 2, 4]
%joined = reshape(%back) {shape=[B, S, 8]} : f32[B, S, 8]
%first = slice(%joined) {axis=1, begin=0, size=[1]} : f32[B, 1, 8]
output first = %first
)",
               hoist_slices,
               R"(%q = input : f32[B, S, 8]
%k = input : f32[B, 2, 4, S]
%mask = input : f32[B, 1, 1, S]
%v = input : f32[B, 2, S, 4]
%q.slice = slice(%q) {axis=1, begin=0, size=[1]} : f32[B, 1, 8]
%heads.part = reshape(%q.slice) {shape=[B, 1, 2, 4]} : f32[B, 1, 2, 4]
%turned.part = transpose(%heads.part) {axes=[0, 2, 1, 3]} : f32[B, 2, 1, 4]
%scores.part = matmul(%turned.part, %k) : f32[B, 2, 1, S]
%masked.part = add(%scores.part, %mask) : f32[B, 2, 1, S]
%weights.part = softmax(%masked.part) : f32[B, 2, 1, S]
%context.part = matmul(%weights.part, %v) : f32[B, 2, 1, 4]
%back.part = transpose(%context.part) {axes=[0, 2, 1, 3]} : f32[B, 1, 2, 4]
%joined.part = reshape(%back.part) {shape=[B, 1, 8]} : f32[B, 1, 8]
output first = %joined.part
)");
}

void expect_stop(const std::string& operation) {
  const std::string graph =
      "%x = input : f32[4, 6]\n%key = input : i64[]\n%y = " + operation +
      " : f32[4, 6]\n%part = slice(%y) {axis=0, begin=0, size=[1]} : f32[1, 6]\n"
      "output part = %part\n";
  expect_after(graph, hoist_slices, graph);
}

// Blocks lie within rows, and a format with fixed or calibrated constants rounds each value alone.
TEST(HoistSlices, PassQuantizersWhoseRowsShareNothing) {
  expect_after(R"(%x = input : f32[B, S, 32]
%scale = parameter format_state frozen : f32[]
%a = quantize(%x) {format=mxint(bits=8,block=32)} : f32[B, S, 32]
%b = quantize(%a, %scale) {format=int(bits=8,scale=static)} : f32[B, S, 32]
%first = slice(%b) {axis=1, begin=0, size=[1]} : f32[B, 1, 32]
output first = %first
)",
               hoist_slices,
               R"(%x = input : f32[B, S, 32]
%scale = parameter format_state frozen : f32[]
%x.slice = slice(%x) {axis=1, begin=0, size=[1]} : f32[B, 1, 32]
%a.part = quantize(%x.slice) {format=mxint(bits=8,block=32,axis=-1)} : f32[B, 1, 32]
%b.part = quantize(%a.part, %scale) {format=int(bits=8,per=tensor,scale=static)} : f32[B, 1, 32]
output first = %b.part
)");
}

// Random numbers depend on the place within the limits, so the first places get the same ones.
TEST(HoistSlices, PassDropoutWhereTheFirstPlacesAreLeft) {
  expect_after(R"(%x = input : f32[B, S, 6]
%key = input : i64[]
%y = dropout(%x, %key) {p=0.1, stream=1, limits=[B, 64, 6]} : f32[B, S, 6]
%part = slice(%y) {axis=1, begin=0, size=[2]} : f32[B, 2, 6]
output part = %part
)",
               hoist_slices,
               R"(%x = input : f32[B, S, 6]
%key = input : i64[]
%x.slice = slice(%x) {axis=1, begin=0, size=[2]} : f32[B, 2, 6]
%y.part = dropout(%x.slice, %key) {p=0.1, stream=1, limits=[B, 64, 6]} : f32[B, 2, 6]
output part = %y.part
)");
  const Graph whole = parse(
      "%x = input : f32[2, 5, 6]\n%key = input : i64[]\n"
      "%y = dropout(%x, %key) {p=0.5, stream=1, limits=[2, 64, 6]} : f32[2, 5, 6]\n"
      "%part = slice(%y) {axis=1, begin=0, size=[2]} : f32[2, 2, 6]\noutput part = %part\n");
  Graph hoisted = whole;
  ASSERT_TRUE(hoist_slices(hoisted));
  const NamedTensors inputs = {{"x", Tensor::of<float>({2, 5, 6}, std::vector<float>(60, 1.0f))},
                               {"key", Tensor::scalar(std::int64_t{7})}};
  EXPECT_EQ(elements_of(run_graph(hoisted, inputs).at("part")),
            elements_of(run_graph(whole, inputs).at("part")));
}

// The gradient scale of learned states depends on the number of elements.
TEST(HoistSlices, StopAtQuantizersThatLearnWhereGradientsAreTaken) {
  constexpr std::string_view learns = R"(%x = input : f32[B, S, 32]
%scale = parameter format_state trainable : f32[]
%a = quantize(%x, %scale) {format=int(bits=8,per=tensor,scale=learned)} : f32[B, S, 32]
%first = slice(%a) {axis=1, begin=0, size=[1]} : f32[B, 1, 32]
output first = %first
)";
  expect_after(learns, hoist_slices_before_gradients, learns);
  Graph graph = parse(learns);
  EXPECT_TRUE(hoist_slices(graph));
}

TEST(HoistSlices, StopWherePlacesDependOnEachOther) {
  expect_stop("dropout(%x, %key) {p=0.1, stream=1, limits=[]}");
  for (const char* part : {"begin=1, size=[2]", "begin=0, size=[2]"}) {
    // Slices that do not begin at the first place, and limits that depend on the batch.
    const std::string limits =
        std::string(part).starts_with("begin=1") ? "[B, 64, 6]" : "[B, S, 6]";
    const std::string graph =
        "%x = input : f32[B, S, 6]\n%key = input : i64[]\n%y = dropout(%x, %key) {p=0.1, stream=1, "
        "limits=" +
        limits + "} : f32[B, S, 6]\n%part = slice(%y) {axis=1, " + part +
        "} : f32[B, 2, 6]\noutput part = %part\n";
    expect_after(graph, hoist_slices, graph);
  }
  expect_stop("quantize(%x) {format=int(bits=8,per=tensor,scale=dynamic)}");
  constexpr std::string_view in_row = R"(%x = input : f32[4, 6]
%y = softmax(%x) : f32[4, 6]
%part = slice(%y) {axis=1, begin=0, size=[1]} : f32[4, 1]
output part = %part
)";
  expect_after(in_row, hoist_slices, in_row);
}

TEST(HoistSlices, LeaveWhatIsReadElsewhereToo) {
  for (const char* other :
       {"%whole = relu(%y) : f32[4, 6]\noutput whole = %whole\n", "output whole = %y\n",
        "%whole = slice(%y) {axis=0, begin=1, size=[1]} : f32[1, 6]\n"
        "output whole = %whole\n"}) {
    const Graph before =
        parse(std::string("%x = input : f32[4, 6]\n%y = tanh(%x) : f32[4, 6]\n"
                          "%part = slice(%y) {axis=0, begin=0, size=[1]} : f32[1, 6]\n"
                          "output part = %part\n") +
              other);
    expect_after(to_string(before), hoist_slices, to_string(before));
  }
}

}  // namespace
}  // namespace hone::testing
