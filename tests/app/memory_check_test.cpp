#include "hone/app/memory_check.h"

#include <gtest/gtest.h>

#include "hone/base/cpu.h"
#include "hone/train/training_graph.h"
#include "tests/app/app_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

Graph step_graph() {
  Graph graph = tiny_model().graph;
  add_training_step(graph, {});
  return graph;
}

TEST(MemoryCheck, GrowsWithBatchAndLength) {
  const Graph graph = step_graph();
  const double one = needed_bytes(graph, {{'B', 1}, {'S', 8}});
  const double many = needed_bytes(graph, {{'B', 64}, {'S', 8}}),
               longer = needed_bytes(graph, {{'B', 64}, {'S', 24}});
  EXPECT_GT(many, one);
  EXPECT_GT(longer, 2 * many);
  // Weights and both moments are there whatever the batch is.
  double weights = 0;
  const Model model = tiny_model();
  for (const auto& [name, tensor] : model.parameters.tensors())
    weights += static_cast<double>(tensor.count()) * sizeof(float);
  EXPECT_GT(one, 3 * weights);
}

// A sanitizer keeps shadow memory and freed blocks, which no estimate of ours is about.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// What a step really takes stays below the estimate, and not far below.
TEST(MemoryCheck, IsAnUpperBoundThatIsNear) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is not the program's";
  Model model = tiny_model();
  const EncodedSet texts = tiny_texts(4000);
  const double estimate =
      needed_bytes(step_graph(), {{'B', texts.size()}, {'S', longest_text(texts)}});
  const double before = static_cast<double>(resident_bytes());
  ThreadPool pool(1);
  train(model.graph, model.parameters, texts, 0, {.max_steps = 1, .batch_size = texts.size()}, {},
        builtin(), pool);
  const double taken = static_cast<double>(peak_resident_bytes()) - before;
  EXPECT_GT(estimate, 100e6) << "too small to be told from the rest of the process";
  EXPECT_LT(taken, 1.2 * estimate);
  EXPECT_GT(taken, 0.5 * estimate);
}

TEST(MemoryCheck, SaysWhatIsNeededAndWhatToDo) {
  const Graph graph = step_graph();
  const Bindings bindings = {{'B', 1000}, {'S', 24}};
  expect_user_error("not enough memory: a step takes about ",
                    [&] { check_memory(graph, bindings, "a step", 1e6); });
  expect_user_error("and 976.6 KiB can be had; take smaller batches (--batch), shorter texts",
                    [&] { check_memory(graph, bindings, "a step", 1e6); });
  check_memory(graph, bindings, "a step", needed_bytes(graph, bindings));
  EXPECT_GT(available_bytes(), 1e6);
}

}  // namespace
}  // namespace hone::testing
