#include "hone/jobs/prune/sparsify.h"

#include <gtest/gtest.h>

#include "hone/analysis/sparsity.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/prune_inputs.h"
#include "hone/tensor/dense.h"
#include "tests/support/expect.h"
#include "tests/support/message.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone::testing {
namespace {

SparsifyOptions trained_to(double sparsity, std::int64_t steps = 6) {
  SparsifyOptions options;
  options.pruning.rule.sparsity = sparsity;
  options.trains = true;
  options.fine_tune.training = {.optimizer = {.learning_rate = 1e-2, .weight_decay = 0.1},
                                .max_steps = steps,
                                .batch_size = 8};
  return options;
}

Model sparse(const SparsifyOptions& options, const Model& parent = tiny_model()) {
  TrainingLog log;
  return sparsify(parent, tiny_splits(), options, log, quiet_context());
}

std::vector<Zeros> zeros_of_pruned(const Model& model) {
  std::vector<Zeros> zeros = parameter_zeros(model.graph, model.parameters);
  std::erase_if(zeros, [&](const Zeros& one) {
    return std::ranges::none_of(pruned_weights(model.graph),
                                [&](const Node* weight) { return weight->name() == one.name; });
  });
  return zeros;
}

TEST(Sparsify, HoldsMasksThroughTraining) {
  const Model before = sparse({}), after = sparse(trained_to(0.5));
  ASSERT_EQ(pruned_weights(after.graph).size(), 13);
  for (const Node* weight : pruned_weights(after.graph)) {
    const std::string mask = mask_of(*weight).name();
    const Tensor &kept = after.parameters.at(mask), &w = after.parameters.at(weight->name()),
                 &was = before.parameters.at(weight->name());
    EXPECT_TRUE(std::equal(kept.data<bool>(), kept.data<bool>() + kept.count(),
                           before.parameters.at(mask).data<bool>()));
    std::int64_t moved = 0;
    for (std::int64_t i = 0; i < w.count(); ++i) {
      if (!kept.data<bool>()[i]) {
        EXPECT_EQ(w.data<float>()[i], 0);
      }
      moved += w.data<float>()[i] != was.data<float>()[i];
    }
    EXPECT_GT(moved, w.count() / 3) << weight->name() << " is trained";
  }
}

TEST(Sparsify, ReachesItsSparsityAlongACube) {
  SparsifyOptions options = trained_to(0.75, 8);
  options.cubic = true;
  const Model model = sparse(options);
  for (const Zeros& one : zeros_of_pruned(model)) EXPECT_DOUBLE_EQ(one.share(), 0.75) << one.name;
  // Which go is decided by what training made of the weights.
  const Model at_once = sparse(trained_to(0.75, 8));
  bool other = false;
  for (const Node* weight : pruned_weights(model.graph)) {
    const std::string mask = mask_of(*weight).name();
    const Tensor &a = model.parameters.at(mask), &b = at_once.parameters.at(mask);
    other = other || !std::equal(a.data<bool>(), a.data<bool>() + a.count(), b.data<bool>());
  }
  EXPECT_TRUE(other);
  EXPECT_EQ(model.facts.history.passes,
            (std::vector<std::string>{"prune(sparsity=0.75) while it was trained"}));
}

TEST(Sparsify, IsTheSameWhenItWasSaved) {
  SparsifyOptions options = trained_to(0.5);
  options.activations = 0.3;
  options.calibration.batch_count = 1;
  Model parent = tiny_model();
  put_quantizers(parent, "mxint(bits=8)");
  const Model model = round_weights(sparse(options, parent), quiet_context());
  const TemporaryFolder folder;
  save_model(model, folder.path());
  EXPECT_FALSE(path_exists(folder.path() / "model.safetensors")) << "others know no thresholds";
  const Model read = load_model(folder.path(), builtin().ops, builtin().formats, 1);
  EXPECT_TRUE(read.warnings.empty());
  ASSERT_EQ(read.parameters.tensors().size(), model.parameters.tensors().size());
  for (const auto& [name, tensor] : model.parameters.tensors())
    EXPECT_TRUE(std::ranges::equal(host_bytes(tensor), host_bytes(read.parameters.at(name))))
        << name;
  const auto logits = [](const Model& m) {
    return measure(m, tiny_splits().test, 8, quiet_context(), "measure").logits;
  };
  EXPECT_EQ(logits(read), logits(model));
  EXPECT_EQ(input_thresholds(read.graph).size(), 9);
}

TEST(Sparsify, LeavesAModelThatOthersLoad) {
  const TemporaryFolder folder;
  const Model model = sparse({});
  save_model(model, folder.path());
  EXPECT_TRUE(path_exists(folder.path() / "model.safetensors"));
  EXPECT_EQ(total(zeros_of_pruned(model)).share(), 0.5);
}

TEST(Sparsify, RefusesFormatsWithoutAZeroBeforeItTrains) {
  Model parent = tiny_model();
  put_quantizers(parent, "binary");
  const std::string message = message_of([&] { sparse(trained_to(0.5), parent); });
  EXPECT_NE(message.find("pruned weights would not be 0 after rounding: their number format has no "
                         "zero; take another format, or the pass unprune first"),
            std::string::npos)
      << message;
  // So does whoever quantizes what is pruned.
  CompressOptions options;
  const Model pruned = sparse({});
  options.plan = one_format(pruned, format_called("binary"));
  EXPECT_NE(message_of([&] {
              round_weights(compress(pruned, tiny_splits(), options, quiet_context()),
                            quiet_context());
            }).find("has no zero"),
            std::string::npos);
}

TEST(Sparsify, WeighsByWhatLayersRead) {
  SparsifyOptions options;
  options.pruning.rule.method = PruneMethod::wanda;
  const Model first = sparse(options), again = sparse(options), by_size = sparse({});
  bool differs = false;
  for (const Node* weight : pruned_weights(first.graph)) {
    const std::string mask = mask_of(*weight).name();
    const auto kept = [&](const Model& model) {
      const Tensor& tensor = model.parameters.at(mask);
      return std::vector<bool>(tensor.data<bool>(), tensor.data<bool>() + tensor.count());
    };
    EXPECT_EQ(kept(first), kept(again));
    differs = differs || kept(first) != kept(by_size);
  }
  EXPECT_TRUE(differs);
  for (const Zeros& one : zeros_of_pruned(first)) EXPECT_NEAR(one.share(), 0.5, 0.01) << one.name;
}

TEST(Sparsify, SaysWhatDoesNotGoTogether) {
  SparsifyOptions cubic;
  cubic.cubic = true;
  EXPECT_EQ(message_of([&] { sparse(cubic); }),
            "`schedule` cubic lets sparsity rise while the model is trained: give `epochs` or "
            "`max_steps` too");
  cubic = trained_to(0.5);
  cubic.cubic = true;
  cubic.pruning.rule.structure.pattern = KeptOf{2, 4};
  EXPECT_EQ(message_of([&] { sparse(cubic); }),
            "`schedule` cubic goes with `structure` weights or blocks: 2:4 is all or nothing");
  SparsifyOptions all;
  all.activations = 1;
  EXPECT_EQ(message_of([&] { sparse(all); }),
            "`activation_sparsity`: expected a share from 0 on and below 1, got 1");
}

// The best of evaluations is none of a model that is not yet as sparse as it is to be.
TEST(Sparsify, ChoosesAmongModelsOfTheFullSparsity) {
  SparsifyOptions options = trained_to(0.75, 8);
  options.cubic = true;
  options.fine_tune.training.eval_steps = 1;
  options.fine_tune.load_best_model_at_end = true;
  TrainingLog log;
  const Model model = sparsify(tiny_model(), choice_splits(), options, log, quiet_context());
  for (const Zeros& one : zeros_of_pruned(model)) EXPECT_DOUBLE_EQ(one.share(), 0.75) << one.name;
}

}  // namespace
}  // namespace hone::testing
