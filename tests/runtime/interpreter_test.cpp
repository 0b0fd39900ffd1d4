#include "hone/runtime/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hone/base/random.h"
#include "hone/tensor/mapped.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr std::string_view kModel = R"(%x = input : f32[B, 2]
%y = input : f32[B]
%w = parameter weight trainable : f32[3, 2]
%h = linear(%x, %w) : f32[B, 3]
%z = relu(%h) : f32[B, 3]
output z = %z
)";

ParameterStore square_weights() {
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({3, 2}, {1, 0, 0, 1, -1, -1}));
  return parameters;
}

Tensor rows(std::int64_t count) {
  Tensor x = Tensor::empty(DType::f32, {count, 2});
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = static_cast<float>(i);
  return x;
}

TEST(Interpreter, TakesAnotherBatchInEveryRun) {
  const Graph graph = parse(kModel);
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, references(), pool);
  const auto run = [&](std::int64_t count) {
    return elements_of(interpreter.run({{"x", rows(count)}}, parameters).at("z"));
  };
  EXPECT_EQ(run(1), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(run(3), (std::vector<float>{0, 1, 0, 2, 3, 0, 4, 5, 0}));
  EXPECT_EQ(run(2), (std::vector<float>{0, 1, 0, 2, 3, 0}));
  EXPECT_EQ(run(0), std::vector<float>{});
}

TEST(Interpreter, TakesItsMemoryOnce) {
  const Graph graph = parse(kModel);
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, references(), pool);
  interpreter.run({{"x", rows(1000)}}, parameters);
  const std::size_t reserved = interpreter.reserved_bytes();
  EXPECT_GT(reserved, 0u);
  for (int i = 0; i < 5; ++i) interpreter.run({{"x", rows(1000)}}, parameters);
  interpreter.run({{"x", rows(900)}}, parameters);
  EXPECT_EQ(interpreter.reserved_bytes(), reserved);
}

TEST(Interpreter, GivesItsMemoryBackWhenAsked) {
  const Graph graph = parse(kModel);
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, references(), pool);
  const NamedTensors first = interpreter.run({{"x", rows(100)}}, parameters);
  const std::size_t reserved = interpreter.reserved_bytes();
  interpreter.release_memory();
  EXPECT_EQ(interpreter.reserved_bytes(), 0u);
  const NamedTensors second = interpreter.run({{"x", rows(100)}}, parameters);
  EXPECT_EQ(interpreter.reserved_bytes(), reserved);
  for (const auto& [name, tensor] : first)
    EXPECT_EQ(elements_of(second.at(name)), elements_of(tensor)) << "results outlive the memory";
}

TEST(Interpreter, ReleasesValuesAfterTheirLastUse) {
  std::string chain = "%x = input : f32[1000]\n%v0 = relu(%x) : f32[1000]\n";
  for (int i = 1; i < 10; ++i) chain += fmt::format("%v{} = relu(%v{}) : f32[1000]\n", i, i - 1);
  const Graph graph = parse(chain + "output y = %v9\n");
  ThreadPool pool(1);
  ParameterStore none;
  Interpreter interpreter(graph, references(), pool);
  interpreter.run({{"x", Tensor::zeros(DType::f32, {1000})}}, none);
  EXPECT_EQ(interpreter.reserved_bytes(), 2 * 4096u);
}

TEST(Interpreter, QuantizesInPlaceWhereNobodyElseReads) {
  const auto reserved = [](std::string_view text) {
    const Library library = builtin_library();
    const Graph graph = parse_graph(text, library.ops, library.formats);
    ThreadPool pool(1);
    ParameterStore none;
    Interpreter interpreter(graph, library, pool);
    const Tensor x = Tensor::of<float>({1000}, std::vector<float>(1000, 0.3f));
    EXPECT_EQ(elements_of(interpreter.run({{"x", x}}, none).at("y"))[0], 0.25f);
    EXPECT_EQ(elements_of(x)[0], 0.3f);  // the caller's tensor
    return interpreter.reserved_bytes();
  };
  EXPECT_EQ(reserved("%x = input : f32[1000]\n%r = relu(%x) : f32[1000]\n"
                     "%y = quantize(%r) {format=integer(width=8,frac=2)} : f32[1000]\n"
                     "output y = %y\n"),
            4096u);
  EXPECT_EQ(reserved("%x = input : f32[1000]\n%r = relu(%x) : f32[1000]\n"
                     "%y = quantize(%r) {format=integer(width=8,frac=2)} : f32[1000]\n"
                     "output y = %y\noutput r = %r\n"),
            2 * 4096u);
}

TEST(Interpreter, KeepsEarlierResultsApartFromLaterRuns) {
  const Graph graph = parse(kModel);
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, references(), pool);
  const NamedTensors first = interpreter.run({{"x", rows(1)}}, parameters);
  interpreter.run({{"x", Tensor::of<float>({1, 2}, {8, 9})}}, parameters);
  EXPECT_EQ(elements_of(first.at("z")), (std::vector<float>{0, 1, 0}));
}

TEST(Interpreter, SaysWhichInputIsMissingOrDoesNotFit) {
  const Graph graph = parse(kModel);
  const auto refusal = [&](const NamedTensors& inputs) {
    return message_of([&] { run_graph(graph, inputs, square_weights()); });
  };
  EXPECT_EQ(refusal({}), "the graph needs the input 'x': f32[B, 2]");
  EXPECT_EQ(refusal({{"x", Tensor::zeros(DType::f32, {4, 3})}}),
            "input 'x': expected shape [B, 2], got [4, 3]; B is 4");
  EXPECT_EQ(refusal({{"x", Tensor::zeros(DType::f32, {4})}}),
            "input 'x': expected shape [B, 2], got [4]");
  EXPECT_EQ(refusal({{"x", Tensor::zeros(DType::i64, {4, 2})}}),
            "input 'x': expected f32[B, 2], got i64");
}

TEST(Interpreter, RefusesInputsThatDisagreeAboutASymbol) {
  const Graph graph = parse(R"(%a = input : f32[B]
%b = input : f32[B]
%y = add(%a, %b) : f32[B]
output y = %y
)");
  EXPECT_EQ(message_of([&] {
              run_graph(graph, {{"a", Tensor::zeros(DType::f32, {2})},
                                {"b", Tensor::zeros(DType::f32, {3})}});
            }),
            "input 'b': expected shape [B], got [3]; B is 2");
}

TEST(Interpreter, SaysWhichParameterIsMissingOrDoesNotFit) {
  const Graph graph = parse(kModel);
  const auto refusal = [&](const ParameterStore& parameters) {
    return message_of([&] { run_graph(graph, {{"x", rows(1)}}, parameters); });
  };
  ParameterStore wide, whole;
  wide.set("w", Tensor::zeros(DType::f32, {3, 4}));
  whole.set("w", Tensor::zeros(DType::bf16, {3, 2}));
  EXPECT_EQ(refusal({}), "the model has no parameter called 'w'");
  EXPECT_EQ(refusal(wide), "parameter 'w': expected shape [3, 2], got [3, 4]; B is 1");
  EXPECT_EQ(refusal(whole), "parameter 'w': expected f32[3, 2], got bf16");
}

TEST(Interpreter, NamesTheNodeOfAnErrorAndGoesOnAfterIt) {
  const Graph graph = parse(R"(%ids = input : i64[T]
%table = parameter weight frozen : f32[2, 1]
%y = embedding(%ids, %table) {padding=-1} : f32[T, 1]
output y = %y
)");
  ParameterStore parameters;
  parameters.set("table", Tensor::of<float>({2, 1}, {5, 6}));
  ThreadPool pool(1);
  Interpreter interpreter(graph, references(), pool);
  const auto run = [&](std::int64_t id) {
    return interpreter.run({{"ids", Tensor::of<std::int64_t>({1}, {id})}}, parameters).at("y");
  };
  EXPECT_EQ(message_of([&] { run(2); }),
            "while executing %y (embedding): id 2 is outside the embedding table of 2 rows");
  EXPECT_EQ(elements_of(run(1)), (std::vector<float>{6}));
}

TEST(Interpreter, GivesInputsAndParametersThatAreOutputs) {
  const Graph graph = parse(R"(%x = input : f32[B]
%w = parameter weight frozen : f32[1]
output x = %x
output w = %w
)");
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({1}, {3}));
  const NamedTensors outputs =
      run_graph(graph, {{"x", Tensor::of<float>({2}, {1, 2})}}, parameters);
  EXPECT_EQ(elements_of(outputs.at("x")), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements_of(outputs.at("w")), (std::vector<float>{3}));
  EXPECT_EQ(message_of([&] { run_graph(graph, {}, parameters); }),
            "the graph needs the input 'x': f32[B]");
}

// In its first step, AdamW without decay and with eps 0 computes p <- p - rate sign(g).
constexpr std::string_view kUpdate = R"(%g = input : f32[2]
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%p = parameter weight trainable : f32[2]
%m = parameter weight frozen : f32[2]
%v = parameter weight frozen : f32[2]
%new = adamw(%p, %g, %m, %v, %norm, %rate, %step) {beta1=0.5, beta2=0.75, eps=0.0, weight_decay=0.0, max_grad_norm=0.0} : f32[2], f32[2], f32[2]
output m = %new:1
)";

TEST(Interpreter, UpdatesParametersInPlaceAndLeavesCopiesOfTheStoreAlone) {
  const Graph graph = parse(kUpdate);
  ParameterStore parameters;
  parameters.set("p", Tensor::of<float>({2}, {1, 2}));
  for (const char* moment : {"m", "v"}) parameters.set(moment, Tensor::zeros(DType::f32, {2}));
  const ParameterStore copy = parameters;
  const NamedTensors inputs = {{"g", Tensor::of<float>({2}, {4, -4})},
                               {"norm", Tensor::scalar(0.0f)},
                               {"rate", Tensor::scalar(0.5f)},
                               {"step", Tensor::scalar<std::int64_t>(1)}};
  ThreadPool pool(1);
  Interpreter interpreter(graph, references(), pool);
  interpreter.run(inputs, parameters);
  EXPECT_EQ(elements_of(parameters.at("p")), (std::vector<float>{0.5, 2.5}));
  EXPECT_EQ(elements_of(copy.at("p")), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements_of(copy.at("m")), (std::vector<float>{0, 0}));
  const std::byte* memory = parameters.at("p").device_pointer();
  interpreter.run(inputs, parameters);
  EXPECT_EQ(parameters.at("p").device_pointer(), memory);
}

TEST(Interpreter, NeverWritesIntoInputsAndFrozenParameters) {
  const Graph graph = parse(R"(%x = input : f32[2]
%w = parameter weight frozen : f32[2]
%a = tanh(%x) : f32[2]
%b = tanh(%w) : f32[2]
%y = add(%a, %b) : f32[2]
output y = %y
)");
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({2}, {3, 4}));
  const NamedTensors inputs = {{"x", Tensor::of<float>({2}, {1, 2})}};
  const Library library = builtin_library();
  ThreadPool pool(1);
  Interpreter(graph, library, pool).run(inputs, parameters);
  EXPECT_EQ(elements_of(inputs.at("x")), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, 4}));
}

TEST(Interpreter, CountsTheCallsOfEveryKernel) {
  const Graph graph = parse(kModel);
  Library library = references();
  library.kernels.push_back({"relu", "cpu", "mine",
                             [](const CallSite&) -> std::string_view { return ""; },
                             [](Call& call) { call.op.reference(call); }});
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, library, pool);
  interpreter.run({{"x", rows(1)}}, parameters);
  std::vector<OperationSpan> spans;
  interpreter.record(&spans);
  for (int i = 0; i < 3; ++i) interpreter.run({{"x", rows(1)}}, parameters);
  ASSERT_EQ(kernel_times(spans).size(), 2u);
  EXPECT_EQ(kernel_times(spans).at("linear / reference").calls, 3);
  EXPECT_EQ(kernel_times(spans).at("relu / mine").calls, 3);
  EXPECT_GE(kernel_times(spans).at("relu / mine").seconds, 0);
  // Runs are recorded only between the two calls of `record`.
  interpreter.record(nullptr);
  interpreter.run({{"x", rows(1)}}, parameters);
  EXPECT_EQ(spans.size(), 6u);
}

template <int Value>
void fill_with(Call& call) {
  std::ranges::fill(call.output().values<float>(), static_cast<float>(Value));
}

// A kernel for rows of at most `Most` values.
template <int Most>
std::string_view at_most(const CallSite& site) {
  return site.inputs[0].shape.back().size <= Most ? "" : "x is long";
}

TEST(Interpreter, TakesTheFirstKernelThatAcceptsAndElseTheReference) {
  Library library = references();
  library.kernels.push_back({"relu", "cpu", "one", at_most<1>, fill_with<1>});
  library.kernels.push_back({"relu", "cpu", "two", at_most<2>, fill_with<2>});
  library.kernels.push_back({"relu", "gpu", "other", at_most<3>, nullptr});
  const auto first = [&](std::int64_t count) {
    const Graph graph = parse(fmt::format(
        "%x = input : f32[B, {0}]\n%y = relu(%x) : f32[B, {0}]\noutput y = %y\n", count));
    return elements_of(
        run_graph(graph, {{"x", Tensor::zeros(DType::f32, {1, count})}}, {}, library).at("y"))[0];
  };
  EXPECT_EQ(first(1), 1);
  EXPECT_EQ(first(2), 2);
  EXPECT_EQ(first(3), 0);
}

// Records the arguments of a kernel.
struct Given {
  Tensor x;
  bool prepared = false;
};
Given& given() {
  static Given last;
  return last;
}
void look(Call& call) {
  given() = {call.input(0), call.prepared != nullptr};
  call.op.reference(call);
}

// Runs a kernel that accepts `layout` on a view of x (2, 3), and returns its arguments.
Given given_a_view(Layout layout, std::string_view text) {
  Library library = references();
  library.kernels.push_back({"relu", "cpu", "looks", at_most<9>, look, layout});
  const Graph graph = parse(text);
  const NamedTensors inputs = {{"x", Tensor::of<float>({2, 3}, {-1, 2, 3, 4, -5, 6})}};
  const NamedTensors found = run_graph(graph, inputs, {}, library);
  EXPECT_EQ(elements_of(found.at("y")),
            elements_of(run_graph(graph, inputs, {}, references()).at("y")));
  return given();
}

constexpr std::string_view kOfTransposed = R"(%x = input : f32[2, 3]
%t = transpose(%x) {axes=[1, 0]} : f32[3, 2]
%y = relu(%t) : f32[3, 2]
output y = %y
)";
constexpr std::string_view kOfPart = R"(%x = input : f32[2, 3]
%s = slice(%x) {axis=1, begin=0, size=[2]} : f32[2, 2]
%t = reshape(%s) {shape=[2, 2, 1]} : f32[2, 2, 1]
%y = relu(%t) : f32[2, 2, 1]
output y = %y
)";

TEST(Interpreter, MakesDenseWhatAKernelDoesNotTakeAsItLies) {
  EXPECT_TRUE(given_a_view(Layout::dense, kOfTransposed).x.contiguous());
  EXPECT_EQ(given_a_view(Layout::matrices, kOfTransposed).x.strides(), (Sizes{1, 3}));
  EXPECT_EQ(given_a_view(Layout::strided, kOfTransposed).x.strides(), (Sizes{1, 3}));
  EXPECT_TRUE(given_a_view(Layout::rows, kOfTransposed).x.contiguous());
  EXPECT_TRUE(given_a_view(Layout::dense, kOfPart).x.contiguous());
}

TEST(Interpreter, LeavesRowsWhereTheyLieForAKernelThatTakesThem) {
  const Given given = given_a_view(Layout::rows, R"(%x = input : f32[2, 3]
%t = slice(%x) {axis=1, begin=1, size=[2]} : f32[2, 2]
%y = relu(%t) : f32[2, 2]
output y = %y
)");
  EXPECT_EQ(given.x.strides(), (Sizes{3, 1}));
}

// A relu that overwrites its whole workspace: 3 bytes per element, more than the granularity of the pool.
std::int64_t three_bytes_each(const CallSite& site, const Bindings& bindings) {
  return 3 * element_count(resolve(site.inputs[0].shape, bindings));
}
void use_workspace(Call& call) {
  const std::size_t size_bytes = 3 * static_cast<std::size_t>(call.input(0).count());
  std::memset(call.workspace, 0xff, size_bytes);
  call.op.reference(call);
  for (std::size_t i = 0; i < size_bytes; ++i)
    ASSERT_EQ(static_cast<unsigned char*>(call.workspace)[i], 0xff) << "the result lies in it";
}

TEST(Interpreter, GivesKernelsTheWorkspaceTheyAskForOutOfThePeak) {
  Library library = references();
  library.kernels.push_back({"relu", "cpu", "works", at_most<999999>, use_workspace, Layout::dense,
                             nullptr, three_bytes_each});
  const Graph graph = parse(R"(%x = input : f32[B, 1]
%r = relu(%x) : f32[B, 1]
%y = relu(%r) : f32[B, 1]
output y = %y
)");
  ThreadPool pool(1);
  ParameterStore none;
  Interpreter interpreter(graph, library, pool);
  for (const std::int64_t count : {256, 2560, 512}) {
    const Tensor x = Tensor::of<float>({count, 1}, std::vector<float>(count, -1.0f));
    EXPECT_EQ(elements_of(interpreter.run({{"x", x}}, none).at("y")), std::vector<float>(count));
  }
  // One value, because the second relu works in place, and the workspace.
  EXPECT_EQ(interpreter.peak_reserved_bytes(), 2560u * (4 + 3));
}

// Sizes grow alternately. Memory equals that of the largest run so far, whatever the order.
TEST(Interpreter, IsReadyForTheLargestOfEveryMixOfSizes) {
  const Graph graph = parse(R"(%x = input : f32[B, S]
%t = tanh(%x) : f32[B, S]
%y = add(%t, %x) : f32[B, S]
output y = %y
)");
  const Library library = builtin_library();
  ThreadPool pool(1);
  ParameterStore none;
  Interpreter interpreter(graph, library, pool);
  const auto reserved_after = [&](std::int64_t rows, std::int64_t columns) {
    interpreter.run({{"x", Tensor::zeros(DType::f32, {rows, columns})}}, none);
    return interpreter.reserved_bytes();
  };
  EXPECT_EQ(reserved_after(64, 8), 4u * 64 * 8);      // many short ones
  EXPECT_EQ(reserved_after(2, 256), 4u * 64 * 8);     // few long ones
  EXPECT_EQ(reserved_after(64, 256), 4u * 64 * 256);  // many long ones
}

int& preparations() {
  static int count = 0;
  return count;
}
std::shared_ptr<const void> count_preparations(const Call&) {
  return std::make_shared<int>(++preparations());
}

// Prepared data depends on the contents of the weight. It is not made for a single use, made once for many, and made
// again for new contents.
TEST(Interpreter, PreparesConstantInputsThatComeAgain) {
  const Graph graph = parse(kModel);
  Library library = references();
  library.kernels.push_back({"linear", "cpu", "prepares",
                             [](const CallSite&) -> std::string_view { return ""; }, look,
                             Layout::dense, count_preparations});
  ThreadPool pool(1);
  ParameterStore parameters = square_weights();
  Interpreter interpreter(graph, library, pool);
  const auto run = [&] {
    interpreter.run({{"x", rows(1)}}, parameters);
    return given().prepared;
  };
  preparations() = 0;
  EXPECT_FALSE(run());
  EXPECT_EQ(preparations(), 0);
  EXPECT_TRUE(run());
  EXPECT_TRUE(run());
  EXPECT_EQ(preparations(), 1);
  parameters.writable("w").values<float>()[0] += 1;
  EXPECT_FALSE(run()) << "with what was made of other weights";
  EXPECT_TRUE(run());
  EXPECT_EQ(preparations(), 2);
  ParameterStore others = parameters;
  others.set("w", parameters.at("w").contiguous_copy());
  interpreter.run({{"x", rows(1)}}, others);
  EXPECT_FALSE(given().prepared);
}

TEST(Interpreter, PreparesNothingOfWhatItsGraphUpdates) {
  const Graph graph = parse(R"(%x = input : f32[B, 2]
%p = parameter weight trainable : f32[2, 2]
%m = parameter weight frozen : f32[2, 2]
%v = parameter weight frozen : f32[2, 2]
%g = input : f32[2, 2]
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%y = linear(%x, %p) : f32[B, 2]
%new = adamw(%p, %g, %m, %v, %norm, %rate, %step) {beta1=0.5, beta2=0.75, eps=0.0, weight_decay=0.0, max_grad_norm=0.0} : f32[2, 2], f32[2, 2], f32[2, 2]
output y = %y
output p = %new:0
)");
  Library library = references();
  library.kernels.push_back({"linear", "cpu", "prepares",
                             [](const CallSite&) -> std::string_view { return ""; }, look,
                             Layout::dense, count_preparations});
  ParameterStore parameters;
  for (const char* name : {"p", "m", "v"}) parameters.set(name, Tensor::zeros(DType::f32, {2, 2}));
  const NamedTensors inputs = {{"x", rows(1)},
                               {"g", Tensor::zeros(DType::f32, {2, 2})},
                               {"norm", Tensor::scalar(0.0f)},
                               {"rate", Tensor::scalar(0.5f)},
                               {"step", Tensor::scalar<std::int64_t>(1)}};
  ThreadPool pool(1);
  Interpreter interpreter(graph, library, pool);
  preparations() = 0;
  for (int i = 0; i < 3; ++i) interpreter.run(inputs, parameters);
  EXPECT_FALSE(given().prepared);
  EXPECT_EQ(preparations(), 0);
}

// The gradient also reads the frozen weight, so it stays in memory unchanged.
TEST(Interpreter, PreparesNothingOfAWeightThatOthersReadAsItIs) {
  const Graph graph = parse(R"(%x = input : f32[B, 2]
%w = parameter weight frozen : f32[2, 2]
%y = linear(%x, %w) : f32[B, 2]
%dx = matmul(%y, %w) : f32[B, 2]
output y = %dx
)");
  Library library = references();
  library.kernels.push_back({"linear", "cpu", "prepares",
                             [](const CallSite&) -> std::string_view { return ""; }, look,
                             Layout::dense, count_preparations});
  ParameterStore parameters;
  parameters.set("w", Tensor::zeros(DType::f32, {2, 2}));
  ThreadPool pool(1);
  Interpreter interpreter(graph, library, pool);
  preparations() = 0;
  for (int i = 0; i < 3; ++i) interpreter.run({{"x", rows(1)}}, parameters);
  EXPECT_EQ(preparations(), 0);
}

// A constant bias does not make a computed weight constant.
TEST(Interpreter, PreparesNothingOfAWeightThatIsNoParameter) {
  const Graph graph = parse(R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[4]
%b = parameter bias trainable : f32[2]
%m = reshape(%w) {shape=[2, 2]} : f32[2, 2]
%y = linear(%x, %m, %b) : f32[B, 2]
output y = %y
)");
  Library library = references();
  library.kernels.push_back({"linear", "cpu", "prepares",
                             [](const CallSite&) -> std::string_view { return ""; }, look,
                             Layout::dense, count_preparations});
  ParameterStore parameters;
  parameters.set("w", Tensor::zeros(DType::f32, {4}));
  parameters.set("b", Tensor::zeros(DType::f32, {2}));
  ThreadPool pool(1);
  Interpreter interpreter(graph, library, pool);
  preparations() = 0;
  for (int i = 0; i < 3; ++i) interpreter.run({{"x", rows(1)}}, parameters);
  EXPECT_FALSE(given().prepared);
  EXPECT_EQ(preparations(), 0);
}

// From its second use on, a weight in a file is packed, with the same bits, until it is written.
TEST(Interpreter, PacksWeightsOfAFile) {
  constexpr std::int64_t kOutputs = 70, kInputs = 500;
  const Graph graph = parse(R"(%x = input : f32[B, 500]
%w = parameter weight trainable : f32[70, 500]
%y = linear(%x, %w) : f32[B, 70]
output y = %y
)");
  RandomSequence random(1, 1);
  const auto drawn = [&](std::int64_t rows) {
    Tensor tensor = Tensor::empty(DType::f32, {rows, kInputs});
    for (float& value : tensor.values<float>()) value = static_cast<float>(random.uniform()) - 0.5f;
    return tensor;
  };
  const Tensor x = drawn(9), weight = drawn(kOutputs);
  const TemporaryFolder folder;
  const SharedBytes file =
      map_file(folder.file("w", std::string(reinterpret_cast<const char*>(weight.device_pointer()),
                                            weight.size_bytes())));
  ParameterStore in_memory, in_file;
  in_memory.set("w", weight);
  in_file.set("w", Tensor::view_of(storage_in_file(file, file.text, DType::f32), DType::f32,
                                   {kOutputs, kInputs}, {kInputs, 1}, 0));
  const Library library = builtin_library();
  ThreadPool pool(2);
  Interpreter plain(graph, library, pool), packing(graph, library, pool);
  const auto run = [&](Interpreter& interpreter, ParameterStore& parameters) {
    return elements_of(interpreter.run({{"x", x}}, parameters).at("y"));
  };
  const std::vector<float> expected = run(plain, in_memory);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(packing, in_file), expected) << "run " << i;
  in_memory.writable("w").values<float>()[3] = 7;
  in_file.writable("w").values<float>()[3] = 7;
  const std::vector<float> changed = run(plain, in_memory);
  EXPECT_NE(changed, expected);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(packing, in_file), changed) << "run " << i;
}

}  // namespace
}  // namespace hone::testing
