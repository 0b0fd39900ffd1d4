#include <numeric>

#include "hone/cuda/captured.h"
#include "hone/tensor/dense.h"
#include "tests/cuda/gpu.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using CudaDevices = OnGpu;

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_F(CudaDevices, KeepWhatIsUploaded) {
  // Larger than all pieces of staging memory together.
  const std::size_t count = std::size_t{6} << 20;
  const Tensor host = Tensor::of<float>({static_cast<std::int64_t>(count)}, counted(count));
  const Tensor there = host.on(gpu());
  EXPECT_EQ(to_string(there.device()), "cuda:0");
  EXPECT_EQ(elements_of(there.on(cpu())), elements_of(host));
  EXPECT_THROW(there.data<float>(), InternalError);
}

TEST_F(CudaDevices, CopyViewsWithGaps) {
  const Tensor host = Tensor::of<float>({3, 5, 7}, counted(105));
  const Tensor view = host.transpose({2, 0, 1}).slice(0, 1, 6);
  const Tensor there = host.on(gpu()).transpose({2, 0, 1}).slice(0, 1, 6);
  EXPECT_EQ(elements_of(dense_on(there, cpu())), elements_of(view));
}

TEST_F(CudaDevices, SayWhenMemoryRunsOut) {
  const std::size_t too_much = gpu().info().memory_bytes * 2;
  expect_user_error("not enough memory on cuda:0", [&] { gpu().allocate(too_much); });
  // Later allocations still work.
  EXPECT_EQ(elements_of(Tensor::of<float>({2}, {1, 2}).on(gpu()).on(cpu())),
            (std::vector<float>{1, 2}));
}

TEST_F(CudaDevices, AreNumbered) {
  expect_user_error("there is no cuda:77", [] { cuda::device(77); });
}

// Captured runs give the same results as the interpreter, with changing inputs and after parameters are replaced.
TEST_F(CudaDevices, GiveTheSameBitsWhenRunsAreCaptured) {
  const std::string text =
      "%x = input : f32[B, 4]\n%w = parameter weight trainable : f32[3, 4]\n%y = linear(%x, %w) : "
      "f32[B, 3]\n"
      "%z = tanh(%y) : f32[B, 3]\noutput z = %z\n";
  const Graph graph = parse(text);
  ThreadPool pool(1);
  const Session session{library(), pool, gpu()};
  const auto executable = cuda::captured(graph, session);
  ParameterStore parameters(TensorMap{{"w", Tensor::of<float>({3, 4}, counted(12)).on(gpu())}});
  std::vector<NamedTensors> kept;
  for (int round = 0; round < 20; ++round) {
    const std::int64_t rows = 2 + round % 2;
    std::vector<float> values = counted(static_cast<std::size_t>(4 * rows));
    for (float& value : values) value = value * 0.01f * static_cast<float>(round + 1) - 0.1f;
    if (round == 8)
      parameters.set("w", Tensor::of<float>({3, 4}, std::vector<float>(12, 0.125f)).on(gpu()));
    const NamedTensors inputs = {{"x", Tensor::of<float>({rows, 4}, values)}};
    ParameterStore same = parameters;
    kept.push_back(executable->run(inputs, parameters));
    kept.push_back(Interpreter(graph, library(), pool, gpu()).run(inputs, same));
  }
  EXPECT_EQ(cuda::captured_count(*executable), 2u);
  for (std::size_t i = 0; i < kept.size(); i += 2)
    EXPECT_EQ(elements_of(kept[i].at("z")), elements_of(kept[i + 1].at("z"))) << "round " << i / 2;
}

}  // namespace
}  // namespace hone::testing
