#include "hone/jobs/execution_mode.h"

#include <gtest/gtest.h>

#include "hone/analysis/cost.h"
#include "hone/jobs/bench_work.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::elements_of;

NamedTensors outputs_of(BenchWork& work, const ExecutionMode& mode, const Session& session) {
  const std::unique_ptr<Executable> executable = work.executable(mode, session);
  work.inputs["step"] = Tensor::scalar<std::int64_t>(1);
  work.inputs["random_key"] = Tensor::scalar<std::int64_t>(1);
  NamedTensors outputs = executable->run(work.inputs, work.parameters);
  return outputs;
}

// Returns the work for every executor of the CPU.
std::vector<BenchWork> works_of(const Model& model, bool train) {
  std::vector<BenchWork> works;
  const Session session = testing::quiet_context().session();
  for (const std::string& mode : usable_modes(session))
    works.push_back(bench_work(model, model.parameters, {.batch = 3, .tokens = 11, .train = train},
                               find_execution_mode(mode), session));
  return works;
}

TEST(ExecutionWays, GiveTheSameAnswers) {
  const Model model = testing::tiny_model();
  const Session session = testing::quiet_context().session();
  std::vector<BenchWork> works = works_of(model, /*train=*/false);
  const std::vector<float> first =
      elements_of(outputs_of(works[0], execution_modes()[0], session).at("logits"));
  for (std::size_t i = 1; i < works.size(); ++i) {
    const std::vector<float> own =
        elements_of(outputs_of(works[i], execution_modes()[i], session).at("logits"));
    ASSERT_EQ(own.size(), first.size());
    for (std::size_t k = 0; k < own.size(); ++k)
      EXPECT_NEAR(own[k], first[k], 1e-5 * std::max(1.0f, std::abs(first[k])))
          << execution_modes()[i].name;
  }
}

// Without dropout, whose random numbers depend on the padding.
TEST(ExecutionWays, TrainAlike) {
  Model model = testing::tiny_model();
  remove_dropout(model.graph);
  const Session session = testing::quiet_context().session();
  std::vector<BenchWork> works = works_of(model, /*train=*/true);
  std::vector<double> losses, norms;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const NamedTensors outputs = outputs_of(works[i], execution_modes()[i], session);
    losses.push_back(elements_of(outputs.at("loss"))[0]);
    norms.push_back(elements_of(outputs.at("grad_norm"))[0]);
  }
  for (std::size_t i = 1; i < works.size(); ++i) {
    EXPECT_NEAR(losses[i], losses[0], 1e-5 * losses[0]) << execution_modes()[i].name;
    EXPECT_NEAR(norms[i], norms[0], 1e-5 * norms[0]) << execution_modes()[i].name;
  }
}

TEST(ExecutionWays, EagerFusesNothing) {
  const Model model = testing::tiny_model();
  for (const bool train : {false, true}) {
    const std::vector<BenchWork> works = works_of(model, train);
    const Graph &eager = works[0].graph, &fused = works[1].graph;
    EXPECT_TRUE(eager.operations("attention").empty());
    EXPECT_FALSE(fused.operations("attention").empty());
    EXPECT_GT(eager.of_kind(NodeKind::operation).size(), fused.of_kind(NodeKind::operation).size());
  }
}

TEST(ExecutionWays, SayWhyADeviceDoesNotHaveThem) {
  testing::FakeDevice device;
  Session session = testing::quiet_context().session();
  EXPECT_NE(objection_of(find_execution_mode("graph"), session), "");
  EXPECT_EQ(mode_of(session).name, "interpreter");
  Context there(/*threads=*/1, /*quiet=*/true);
  there.device = &device;
  EXPECT_EQ(usable_modes(there.session()), (std::vector<std::string>{"eager", "interpreter"}));
  there.values = DType::bf16;
  EXPECT_EQ(usable_modes(there.session()), std::vector<std::string>{"interpreter"});
  expect_user_error("`precision`",
                    [&] { check_usable(find_execution_mode("eager"), there.session()); });
}

TEST(ExecutionWays, AreFoundByTheirNames) {
  EXPECT_EQ(find_execution_mode("eager").name, "eager");
  expect_user_error("unknown executor 'fast'; expected one of: eager, interpreter",
                    [] { find_execution_mode("fast"); });
}

}  // namespace
}  // namespace hone
