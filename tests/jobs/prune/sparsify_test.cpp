#include "hone/jobs/prune/sparsify.h"

#include <gtest/gtest.h>

#include "hone/analysis/sparsity.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/prune_inputs.h"
#include "hone/tensor/dense.h"
#include "hone/train/input_hessians.h"
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

// Returns how many masks differ.
std::int64_t changed_masks(const Model& a, const Model& b) {
  return std::ranges::count_if(pruned_weights(a.graph), [&](const Node* weight) {
    const std::string mask = mask_of(*weight).name();
    return !std::ranges::equal(host_bytes(a.parameters.at(mask)),
                               host_bytes(b.parameters.at(mask)));
  });
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
  // The removed weights depend on the training.
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
  EXPECT_NE(message.find("pruned weights would not be 0 after rounding, because their number "
                         "format has no zero; use another format, or apply the pass unprune first"),
            std::string::npos)
      << message;
  // Quantizing a pruned model checks it, too.
  CompressOptions options;
  const Model pruned = sparse({});
  options.plan = plan_with_format(pruned, format_called("binary"));
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

SparsifyOptions cubic_to(const char* structure, PruneMethod method, std::int64_t steps = 8) {
  SparsifyOptions options = trained_to(0.5, steps);
  options.cubic = true;
  options.pruning.rule.method = method;
  options.pruning.rule.structure = parse_structure(structure);
  return options;
}

TEST(Sparsify, ReachesAPatternAlongACube) {
  for (const PruneMethod method : {PruneMethod::l1, PruneMethod::movement}) {
    const Model model = sparse(cubic_to("2:4", method));
    for (const Node* weight : pruned_weights(model.graph)) {
      const Tensor& kept = model.parameters.at(mask_of(*weight).name());
      for (std::int64_t i = 0; i < kept.count(); i += 4)
        EXPECT_EQ(std::count(kept.data<bool>() + i, kept.data<bool>() + i + 4, true), 2);
    }
  }
}

TEST(Sparsify, FollowsMovementToItsSparsity) {
  for (const char* structure : {"weights", "1x4", "4x1"}) {
    const Model model = sparse(cubic_to(structure, PruneMethod::movement));
    for (const Zeros& one : zeros_of_pruned(model))
      EXPECT_DOUBLE_EQ(one.share(), 0.5) << one.name << " " << structure;
    for (const auto& [name, tensor] : model.parameters.tensors())
      EXPECT_FALSE(name.starts_with("movement.")) << name;
  }
  SparsifyOptions global = cubic_to("weights", PruneMethod::movement);
  global.pruning.rule.scope = PruneScope::global;
  EXPECT_NEAR(total(zeros_of_pruned(sparse(global))).share(), 0.5, 1e-6);
}

// Existing masks stay. Checkpoints contain the scores and the values of removed weights.
TEST(Sparsify, ResumesMovementToTheSameBits) {
  SparsifyOptions some;
  some.pruning.rule.sparsity = 0.2;
  const Model parent = sparse(some);
  const TemporaryFolder folder;
  SparsifyOptions options = cubic_to("weights", PruneMethod::movement, 12);
  options.fine_tune.training.save_steps = 1;
  options.fine_tune.checkpoints = {.folder = folder.path(), .keep = 100, .write_model = save_model};
  const Model whole = sparse(options, parent);
  for (const Node* weight : pruned_weights(parent.graph)) {
    const std::string mask = mask_of(*weight).name();
    const Tensor &was = parent.parameters.at(mask), &is = whole.parameters.at(mask);
    for (std::int64_t i = 0; i < was.count(); ++i)
      if (!was.data<bool>()[i]) {
        EXPECT_FALSE(is.data<bool>()[i]);
      }
  }
  options.fine_tune.checkpoints.resume = true;
  for (const std::int64_t step : {9, 4, 1}) {
    for (const std::int64_t later : checkpoint_steps(folder.path()))
      if (later > step) fs::remove_all(checkpoint_folder(options.fine_tune.checkpoints, later));
    const Model resumed = sparse(options, parent);
    for (const auto& [name, tensor] : whole.parameters.tensors())
      EXPECT_TRUE(std::ranges::equal(host_bytes(tensor), host_bytes(resumed.parameters.at(name))))
          << name << " from step " << step;
  }
}

// Neither gradients nor momentum change removed weights. The mask in a checkpoint is that of its last step.
TEST(Sparsify, KeepsValuesOfWeightsThatMovementRemoved) {
  const TemporaryFolder folder;
  SparsifyOptions options = cubic_to("weights", PruneMethod::movement, 12);
  options.fine_tune.training.optimizer.weight_decay = 0;
  options.fine_tune.training.save_steps = 1;
  options.fine_tune.checkpoints = {.folder = folder.path(), .keep = 100, .write_model = save_model};
  const Model model = sparse(options);
  const auto after = [&](std::int64_t step) {
    ParameterStore parameters = model.parameters;
    load_weights(options.fine_tune.checkpoints, step, parameters);
    return parameters;
  };
  std::int64_t removed = 0, returned = 0;
  ParameterStore before = after(1);
  for (std::int64_t step = 2; step <= 12; ++step) {
    ParameterStore now = after(step);
    for (const Node* weight : pruned_weights(model.graph)) {
      const std::string mask = mask_of(*weight).name();
      const float *was = before.at(weight->name()).data<float>(),
                  *is = now.at(weight->name()).data<float>();
      const bool *was_kept = before.at(mask).data<bool>(), *is_kept = now.at(mask).data<bool>();
      for (std::int64_t i = 0; i < now.at(mask).count(); ++i) {
        if (!is_kept[i]) {
          ASSERT_EQ(is[i], was[i]) << weight->name() << " " << i << " at step " << step;
          ++removed;
        }
        returned += is_kept[i] && !was_kept[i];
      }
    }
    before = std::move(now);
  }
  EXPECT_GT(removed, 0);
  EXPECT_GT(returned, 0);
}

TEST(Sparsify, BeginsToPruneAfterTheWarmUp) {
  const TemporaryFolder folder;
  SparsifyOptions options = cubic_to("weights", PruneMethod::movement, 12);
  options.fine_tune.training.warmup_steps = 3;
  options.fine_tune.training.save_steps = 1;
  options.fine_tune.checkpoints = {.folder = folder.path(), .keep = 100, .write_model = save_model};
  const Model model = sparse(options);
  for (const std::int64_t step : {3, 4, 5}) {
    ParameterStore parameters = model.parameters;
    load_weights(options.fine_tune.checkpoints, step, parameters);
    for (const Node* weight : pruned_weights(model.graph))
      EXPECT_EQ(pruned_count(parameters.at(mask_of(*weight).name())) > 0, step > 4) << step;
  }
}

TEST(Sparsify, ChoosesByWhatTheLossSays) {
  SparsifyOptions options;
  options.pruning.rule.method = PruneMethod::first_order;
  options.pruning.rule.scope = PruneScope::global;
  const Model first = sparse(options), again = sparse(options);
  EXPECT_EQ(changed_masks(first, again), 0);
  options.pruning.rule.method = PruneMethod::l1;
  EXPECT_GT(changed_masks(first, sparse(options)), 0);
  EXPECT_NEAR(total(zeros_of_pruned(first)).share(), 0.5, 1e-6);
}

// Returns Σ |x (w - v)|² over rows w of the dense weight and v of the other one, from the second moments of x.
double output_error(const InputHessian& hessian, const std::vector<float>& dense,
                    const std::vector<float>& other) {
  const auto columns = static_cast<std::size_t>(hessian.columns);
  double sum = 0;
  for (std::size_t row = 0; row < dense.size(); row += columns)
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = i; j < columns; ++j)
        sum += (i == j ? 1 : 2) * hessian.sums[i * columns + j] *
               (static_cast<double>(dense[row + i]) - other[row + i]) *
               (static_cast<double>(dense[row + j]) - other[row + j]);
  return sum;
}

TEST(Sparsify, MakesUpForRemovedWeights) {
  Model dense = tiny_model();
  const std::vector<InputHessian> hessians =
      input_hessians(forward_graph(dense), {}, dense.parameters, text_examples(tiny_splits().train),
                     {}, quiet_context().session(), /*beside=*/0);
  for (const char* structure : {"weights", "2:4", "1x4", "4x1"}) {
    SparsifyOptions options;
    options.pruning.rule.structure = parse_structure(structure);
    options.pruning.rule.method = PruneMethod::sparsegpt;
    const Model model = sparse(options);
    EXPECT_GE(total(zeros_of_pruned(model)).share(), 0.5) << structure;
    double updated = 0, alone = 0;
    for (const InputHessian& hessian : hessians)
      for (const std::string& name : hessian.weights) {
        const std::vector<float> w = floats_of(dense.parameters.at(name));
        const Tensor& kept = model.parameters.at(mask_of(*model.graph.find(name)).name());
        std::vector<float> masked = w;
        for (std::size_t i = 0; i < w.size(); ++i)
          if (!kept.data<bool>()[i]) masked[i] = 0;
        updated += output_error(hessian, w, floats_of(model.parameters.at(name)));
        alone += output_error(hessian, w, masked);
      }
    EXPECT_LT(updated, alone) << structure;
  }
}

TEST(Sparsify, SaysWhatDoesNotGoTogether) {
  SparsifyOptions cubic;
  cubic.cubic = true;
  EXPECT_EQ(
      message_of([&] { sparse(cubic); }),
      "`schedule` cubic raises the sparsity during training: give `epochs` or `max_steps` too");
  for (SparsifyOptions movement : {SparsifyOptions{}, trained_to(0.5), cubic}) {
    movement.pruning.rule.method = PruneMethod::movement;
    EXPECT_EQ(message_of([&] { sparse(movement); }),
              "`method` movement scores weights by how training moves them: give `schedule` cubic, "
              "and `epochs` or `max_steps`");
  }
  SparsifyOptions frozen = cubic_to("weights", PruneMethod::movement);
  frozen.fine_tune.freeze = {"bert.encoder.layer.0.*"};
  EXPECT_NE(message_of([&] { sparse(frozen); }).find(" is frozen, and `method` movement"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              sparse(cubic_to("weights", PruneMethod::sparsegpt));
            }).find("leave out `schedule`"),
            std::string::npos);
  SparsifyOptions all;
  all.activations = 1;
  EXPECT_EQ(message_of([&] { sparse(all); }),
            "`activation_sparsity`: expected a share of at least 0 and below 1, got 1");
}

// Evaluations before the full sparsity do not count for the best model.
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
