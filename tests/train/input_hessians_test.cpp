#include "hone/train/input_hessians.h"

#include <gtest/gtest.h>

#include "hone/passes/prune.h"
#include "tests/support/message.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

std::vector<InputHessian> hessians_of(Model& model, const EncodedSet& texts,
                                      const CalibrationRun& run, int threads = 1) {
  ThreadPool pool(threads);
  const Session session{builtin(), pool};
  return input_hessians(forward_graph(model), {}, model.parameters, text_examples(texts), run,
                        session, /*beside=*/0);
}

const InputHessian& hessian_of(const std::vector<InputHessian>& all, const std::string& name) {
  for (const InputHessian& one : all)
    if (std::ranges::find(one.weights, name) != one.weights.end()) return one;
  throw UserError("no Hessian of " + name);
}

TEST(InputHessians, SumTheProductsOfInputs) {
  Model model = tiny_model();
  const EncodedSet texts = tiny_texts(8);
  const std::vector<InputHessian> all =
      hessians_of(model, texts, {.batch_size = 1, .batch_count = 5});
  for (const char* layer :
       {"bert.encoder.layer.0.intermediate.dense", "bert.encoder.layer.1.output.dense"}) {
    const InputHessian& hessian = hessian_of(all, std::string(layer) + ".weight");
    const auto columns = static_cast<std::size_t>(hessian.columns);
    std::vector<double> sums(columns * columns);
    for (const std::vector<float>& inputs : plain_run(model, layer, texts, 1, 5).inputs)
      for (std::size_t token = 0; token < inputs.size(); token += columns)
        for (std::size_t i = 0; i < columns; ++i)
          for (std::size_t j = i; j < columns; ++j)
            sums[i * columns + j] += static_cast<double>(inputs[token + i]) * inputs[token + j];
    ASSERT_EQ(hessian.sums.size(), sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(hessian.sums[i], sums[i], 1e-4 * (1 + std::abs(sums[i]))) << layer << " " << i;
  }
}

TEST(InputHessians, AreSharedByWeightsThatReadTheSame) {
  Model model = tiny_model();
  const std::vector<InputHessian> all =
      hessians_of(model, tiny_texts(4), {.batch_size = 1, .batch_count = 1});
  EXPECT_EQ(all.size(), 9)
      << "query, key and value read one value: four to a layer, and the pooler";
  EXPECT_EQ(hessian_of(all, "bert.encoder.layer.0.attention.self.key.weight").weights.size(), 3);
  std::size_t weights = 0;
  for (const InputHessian& one : all) weights += one.weights.size();
  EXPECT_EQ(weights, prunable_weights(model.graph, {}).size());
}

TEST(InputHessians, HaveTheSameBitsForAnyNumberOfThreads) {
  Model model = tiny_model();
  const EncodedSet texts = tiny_texts(16);
  const std::vector<InputHessian> one = hessians_of(model, texts, {}),
                                  three = hessians_of(model, texts, {}, 3);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].sums, three[i].sums);
}

TEST(InputHessians, NeedTexts) {
  Model model = tiny_model();
  EXPECT_EQ(message_of([&] { hessians_of(model, tiny_texts(0), {}); }),
            "calibration needs examples: the training split is empty");
}

}  // namespace
}  // namespace hone::testing
