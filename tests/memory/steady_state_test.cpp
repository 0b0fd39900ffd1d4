#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "hone/compiler/compiled.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/train/predictor.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"
#include "tests/support/sanitized.h"
#include "tests/support/tiny_model.h"

// Counts heap allocations of all threads while `counting`, by replacing the functions of the C library.
namespace {
std::atomic<bool> counting = false;
std::atomic<std::int64_t> allocations = 0;

void count() {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
}
}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* pointer, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
void* realloc(void* pointer, std::size_t bytes) {
  count();
  return __libc_realloc(pointer, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** pointer, std::size_t alignment, std::size_t bytes) {
  count();
  *pointer = __libc_memalign(alignment, bytes);
  return *pointer == nullptr ? ENOMEM : 0;
}
}
#endif

namespace hone {
namespace {

using testing::builtin;

// Hidden size 128, like the smallest models in use: large enough for every path of the kernels.
Model small_model() {
  EncoderConfig config = testing::tiny_config();
  config.hidden_size = 128;
  config.intermediate_size = 512;
  return new_model(facts_of(bert(), config), builtin().ops, /*seed=*/5);
}

NamedTensors batch_of(std::int64_t texts) {
  const EncodedSet set = testing::tiny_texts(texts);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(texts));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  return text_examples(set).batch(rows, 0);
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Resources that runs take after warm-up.
struct Taken {
  std::vector<std::int64_t> allocations, page_faults;  // per run
  std::int64_t outputs = 0;
};

Taken taken_by(Executable& executable, const NamedTensors& inputs, ParameterStore& parameters) {
  constexpr int kWarmUps = 5, kRuns = 10;
  for (int i = 0; i < kWarmUps; ++i) executable.run(inputs, parameters);
  Taken taken;
  taken.allocations.reserve(kRuns);
  taken.page_faults.reserve(kRuns);
  for (int i = 0; i < kRuns; ++i) {
    const std::int64_t faults_before = page_faults();
    allocations = 0;
    counting = true;
    const NamedTensors outputs = executable.run(inputs, parameters);
    counting = false;
    taken.allocations.push_back(allocations);
    taken.page_faults.push_back(page_faults() - faults_before);
    taken.outputs = std::ssize(outputs);
  }
  return taken;
}

// Each output is an entry of the map that a run returns. These are the only heap allocations. The minimum over the runs
// is compared, because the system may move pages at any time, which is a fault too. Also, a thread allocates its
// scratch memory on its first part of an operation, which may come late.
void expect_steady(Executable& executable, const NamedTensors& inputs, ParameterStore& parameters) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers have a heap of their own";
  const Taken taken = taken_by(executable, inputs, parameters);
  EXPECT_EQ(std::ranges::min(taken.allocations), taken.outputs);
  EXPECT_EQ(std::ranges::min(taken.page_faults), 0);
}

void expect_steady_predictions(const Model& model, Executor executor = interpreted) {
  ThreadPool pool(2);
  const Session session{.library = builtin(), .pool = pool, .executor = executor};
  Predictor predictor(forward_graph(model), model.parameters, session);
  ParameterStore parameters = predictor.parameters();
  const auto executable = session.executable(predictor.graph());
  for (const std::int64_t texts : {1, 8}) expect_steady(*executable, batch_of(texts), parameters);
}

void expect_steady_training(Model model, Executor executor = interpreted) {
  ThreadPool pool(2);
  const Session session{.library = builtin(), .pool = pool, .executor = executor};
  const std::optional<TextLayout> layout = prepare_for_gradients(model.graph);
  add_training_step(model.graph, {});
  add_optimizer_state(model.graph, model.parameters);
  NamedTensors inputs = batch_of(8);
  if (layout) inputs = without_padding(std::move(inputs), *layout);
  inputs["random_key"] = Tensor::scalar<std::int64_t>(7);
  inputs["learning_rate"] = Tensor::scalar(1e-4f);
  inputs["step"] = Tensor::scalar<std::int64_t>(3);
  const auto executable = session.executable(model.graph);
  expect_steady(*executable, inputs, model.parameters);
}

Model with_quantizers(std::string_view format) {
  Model model = small_model();
  testing::put_quantizers(model, format);
  return model;
}

TEST(SteadyState, Predictions) { expect_steady_predictions(small_model()); }

TEST(SteadyState, CompiledPredictions) {
  expect_steady_predictions(small_model(), compiler::compiled);
}

TEST(SteadyState, SimulatedPredictions) {
  expect_steady_predictions(with_quantizers("mxint(bits=8)"));
}

TEST(SteadyState, NativePredictions) {
  Context context(2, true);
  for (const auto& [weight, input] : {std::pair{"int(bits=8,per=row)", "int(bits=8,per=token)"},
                                      std::pair{"int(bits=4,per=row)", "int(bits=8,per=token)"},
                                      std::pair{"mxint(bits=8)", "mxint(bits=8)"}}) {
    SCOPED_TRACE(weight);
    const Model model = small_model();
    const auto format = [](std::string_view text) { return parse_format(text, builtin().formats); };
    Model native = native_copy(model, "native", format(weight), context);
    expect_steady_predictions(native);
  }
}

TEST(SteadyState, Training) { expect_steady_training(small_model()); }

TEST(SteadyState, CompiledTraining) { expect_steady_training(small_model(), compiler::compiled); }

TEST(SteadyState, QuantizationAwareTraining) {
  expect_steady_training(with_quantizers("mxint(bits=8)"));
}

}  // namespace
}  // namespace hone
