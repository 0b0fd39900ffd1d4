#include "hone/train/memory_check.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hone/analysis/cost.h"
#include "hone/base/cpu.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/keep_outputs.h"
#include "hone/passes/lora.h"
#include "hone/passes/remove_dropout.h"
#include "hone/runtime/interpreter.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/sanitized.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Graph step_graph() {
  Graph graph = tiny_model().graph;
  add_training_step(graph, {});
  return graph;
}

TEST(MemoryCheck, GrowsWithBatchAndLength) {
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  const Graph graph = step_graph();
  const double one = needed_bytes(graph, {{'B', 1}, {'S', 8}}, session);
  const double many = needed_bytes(graph, {{'B', 64}, {'S', 8}}, session),
               longer = needed_bytes(graph, {{'B', 64}, {'S', 24}}, session);
  EXPECT_GT(many, one);
  EXPECT_GT(longer, 2 * many);
  // Weights and both moments need memory for any batch size.
  double weights = 0;
  const Model model = tiny_model();
  for (const auto& [name, tensor] : model.parameters.tensors())
    weights += static_cast<double>(tensor.count()) * sizeof(float);
  EXPECT_GT(one, 3 * weights);
}

// The memory that a step takes is near the estimate.
TEST(MemoryCheck, IsAnUpperBoundThatIsNear) {
  if (testing::kSanitized) GTEST_SKIP() << "a sanitizer's memory is not the program's";
  Model model = tiny_model();
  const EncodedSet texts = tiny_texts(4000);
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  Graph step = model.graph;
  ASSERT_TRUE(prepare_for_gradients(step));  // as the trainer does
  add_training_step(step, {});
  const double estimate = needed_bytes(
      step, {{'B', texts.size()}, {'T', largest_batch_tokens(lengths_of(texts), texts.size())}},
      session);
  const double before = static_cast<double>(resident_bytes());
  train(model.graph, model.parameters, text_examples(texts),
        {.max_steps = 1, .batch_size = texts.size()}, session);
  const double taken = static_cast<double>(peak_resident_bytes()) - before;
  EXPECT_GT(estimate, 100e6) << "too small to be told from the rest of the process";
  EXPECT_LT(taken, 1.1 * estimate);
  EXPECT_GT(taken, 0.8 * estimate);
}

// Frozen parameters have no gradient, no moments and no copy.
TEST(MemoryCheck, OfAdaptersIsThatOfWhatIsTrained) {
  Model model = tiny_model();
  const Bindings bindings{{'B', 8}, {'S', 24}};
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  const double all = needed_bytes(step_graph(), bindings, session);
  insert_lora(model.graph, model.parameters, {.rank = 2, .modules_to_save = {"classifier"}});
  Graph graph = model.graph;
  add_training_step(graph, {});
  EXPECT_LT(needed_bytes(graph, bindings, session), all);
  std::int64_t trained = 0, moments = 0;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const std::int64_t count = element_count(resolve(parameter->types()[0].shape, {}));
    if (parameter->role() == ParameterRole::moment) moments += count;
    if (parameter->trainable()) trained += count;
  }
  EXPECT_EQ(moments, 2 * trained);
  ParameterStore parameters = model.parameters;
  add_optimizer_state(graph, parameters);
  Interpreter interpreter(graph, builtin(), pool);
  const EncodedSet texts = tiny_texts(64);
  std::vector<std::int64_t> rows(64);
  std::iota(rows.begin(), rows.end(), 0);
  NamedTensors inputs = text_examples(texts).batch(rows, 0);
  inputs["learning_rate"] = Tensor::scalar(1e-3f);
  inputs["step"] = inputs["random_key"] = Tensor::scalar(std::int64_t{1});
  interpreter.run(inputs, parameters);
  const Bindings run{{'B', 64}, {'S', longest_text(texts)}};
  const double estimate =
      needed_bytes(graph, run, session) - static_cast<double>(cost(graph, run).parameter_bytes);
  const auto peak = static_cast<double>(interpreter.peak_reserved_bytes());
  EXPECT_GE(peak, estimate);
  EXPECT_LT(peak, 1.1 * estimate);
}

// Memory of an interpreter besides the parameters, after batches of many shapes.
TEST(MemoryCheck, IsWhatTheLargestOfManyBatchesTakes) {
  const Model model = tiny_model();
  for (const bool trains : {false, true}) {
    Graph graph = model.graph;
    ParameterStore parameters = model.parameters;
    if (trains) {
      add_training_step(graph, {});
      add_optimizer_state(graph, parameters);
    } else {
      keep_outputs(graph, {"logits"});
      remove_dropout(graph);
      remove_dead_code(graph);
    }
    ThreadPool pool(1);
    Interpreter interpreter(graph, builtin(), pool);
    const EncodedSet texts = tiny_texts(600);
    std::int64_t taken = 0;
    const auto run = [&](std::int64_t count) {
      std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
      std::iota(rows.begin(), rows.end(), taken);
      NamedTensors inputs = text_examples(texts).batch(rows, 0);
      inputs["learning_rate"] = Tensor::scalar(1e-3f);
      inputs["step"] = inputs["random_key"] = Tensor::scalar(std::int64_t{1});
      interpreter.run(inputs, parameters);
    };
    const auto expect_near = [&](std::int64_t count) {
      const Bindings bindings{{'B', count}, {'S', longest_text(texts)}};
      const double estimate = needed_bytes(graph, bindings, {builtin(), pool}) -
                              static_cast<double>(cost(graph, bindings).parameter_bytes);
      const auto peak = static_cast<double>(interpreter.peak_reserved_bytes());
      EXPECT_GE(peak, estimate) << trains << ' ' << count;
      EXPECT_LT(peak, 1.1 * estimate) << trains << ' ' << count;
    };
    run(64);
    expect_near(64);
    for (const std::int64_t count : {600, 64, 500, 8, 300, 600, 100, 1, 600}) run(count);
    expect_near(600);
  }
}

// Sparse copies are kept in addition to weights in memory, unless a graph runs only once.
TEST(MemoryCheck, CountsWhatKernelsPrepareOfSparseWeights) {
  const Model model = tiny_model();
  Graph graph = model.graph;
  keep_outputs(graph, {"logits"});
  remove_dropout(graph);
  remove_dead_code(graph);
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  const Bindings bindings{{'B', 4}, {'S', 8}};
  ParameterStore pruned = model.parameters;
  for (const Node* linear : graph.operations("linear")) {
    const std::string weight = linear->inputs()[1].node->name();
    pruned.set(weight, Tensor::zeros(DType::f32, model.parameters.at(weight).sizes()));
  }
  double copies = 0;
  for (const PreparedCopy& copy : prepared_copies(graph, pruned, session))
    copies += static_cast<double>(copy.bytes);
  EXPECT_GT(copies, 0);
  const auto added = [&](const ParameterStore& held) {
    return added_bytes(repeated_runs(graph, session, held), bindings);
  };
  EXPECT_EQ(added(pruned) - added(model.parameters), copies);
  EXPECT_EQ(needed_bytes(graph, bindings, session, pruned) - needed_bytes(graph, bindings, session),
            copies);
  EXPECT_EQ(single_run_bytes(graph, bindings, session, pruned), added(model.parameters));
}

std::int64_t asked_for_copies = 0;  // calls of a kernel's `prepared_memory`

// Also if many batches are checked.
TEST(MemoryCheck, CountsZerosOncePerWeight) {
  Library library = builtin_library();
  for (Kernel& kernel : library.kernels)
    if (kernel.op == "linear" && kernel.name == "gemm")
      kernel.prepared_memory = [](const CallSite&, std::span<const Tensor* const>, ThreadPool&) {
        ++asked_for_copies;
        return PreparedMemory{.bytes = 1000};
      };
  const Model model = tiny_model();
  Graph graph = model.graph;
  keep_outputs(graph, {"logits"});
  remove_dropout(graph);
  remove_dead_code(graph);
  ThreadPool pool(1);
  asked_for_copies = 0;
  const RepeatedRuns runs = repeated_runs(graph, {library, pool}, model.parameters);
  const std::vector<Node*> linears = graph.operations("linear");
  for (const std::int64_t texts : {1, 8, 32})
    check_batches(runs, std::vector(static_cast<std::size_t>(texts), std::int64_t{8}), texts, "");
  EXPECT_EQ(asked_for_copies, std::ssize(linears));
  EXPECT_EQ(runs.copied_bytes, 1000.0 * static_cast<double>(linears.size()));
}

TEST(MemoryCheck, CountsNoZerosForADeviceWithItsOwnMemory) {
  Library library = fake_library();
  for (Kernel& kernel : library.kernels)
    kernel.prepared_memory = [](const CallSite&, std::span<const Tensor* const>, ThreadPool&) {
      ++asked_for_copies;
      return PreparedMemory{.bytes = 1000};
    };
  FakeDevice device;
  ThreadPool pool(1);
  const Model model = tiny_model();
  const ParameterStore held = model.parameters.on(device);
  asked_for_copies = 0;
  check_memory(model.graph, {{'B', 1}, {'S', 8}}, {library, pool, device}, held, "a batch");
  EXPECT_EQ(asked_for_copies, 0);
}

TEST(MemoryCheck, SaysWhatIsNeededAndWhatToDo) {
  const Graph graph = step_graph();
  const Bindings bindings = {{'B', 1000}, {'S', 24}};
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  expect_user_error("not enough memory: a step needs about ",
                    [&] { check_memory(graph, bindings, session, {}, "a step", 1e6); });
  expect_user_error(
      "and 976.56 KiB is available; use smaller batches (`batch_size`), shorter texts",
      [&] { check_memory(graph, bindings, session, {}, "a step", 1e6); });
  check_memory(graph, bindings, session, {}, "a step", needed_bytes(graph, bindings, session));
  EXPECT_GT(available_bytes(), 1e6);
}

}  // namespace
}  // namespace hone::testing
