#include <cmath>

#include "tests/cuda/gpu.h"
#include "tests/runtime/kernel_cases.h"

// The kernel of the example plugin, examples/cuda_gelu/gelu.cpp, which is compiled into this program.
extern "C" void hone_extend(hone::Library& library);

namespace hone::testing {
namespace {

// The kernel computes in float, the reference in double. erf is within 2 ulp (CUDA C++ Programming Guide, "Mathematical
// Functions"); then 1 is added, and the sum is one of three factors.
constexpr double kGeluUlps = 8;

KernelTable own_kernels() {
  Library added;
  hone_extend(added);
  return added.kernels;
}

std::string gelu_of(const std::string& sizes, const std::string& approximate) {
  return fmt::format(
      "%x = input : f32{0}\n%y = gelu(%x) {{approximate=\"{1}\"}} : f32{0}\noutput y = %y\n", sizes,
      approximate);
}

// Puts the plugin's kernels before the program's own, like load_plugin.
class CudaPlugins : public OnGpu {
 protected:
  static const Library& extended() {
    static const Library built = [] {
      Library both = library();
      const KernelTable own = own_kernels();
      both.kernels.insert(both.kernels.begin(), own.begin(), own.end());
      return both;
    }();
    return built;
  }

  static std::string chosen_for(const std::string& text) {
    const Graph graph = parse(text);
    const Node& node = *graph.of_kind(NodeKind::operation).front();
    return std::string(find_kernel(extended().kernels, node, gpu())->name);
  }
};

TEST(CudaPluginsKernel, TakesGeluByErfAndSaysWhyNoOther) {
  const KernelTable own = own_kernels();
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].op, "gelu");
  EXPECT_EQ(own[0].device, "cuda");
  const auto answer = [&](const std::string& approximate) {
    const Graph graph = parse(gelu_of("[2, 3]", approximate));
    return std::string(own[0].accepts(call_site(*graph.of_kind(NodeKind::operation).front())));
  };
  EXPECT_EQ(answer("none"), "");
  EXPECT_EQ(answer("tanh"), "it is not by erf");
}

TEST_F(CudaPlugins, AreChosenWhereTheyAccept) {
  EXPECT_EQ(chosen_for(gelu_of("[2, 3]", "none")), "mine");
  EXPECT_EQ(chosen_for(gelu_of("[2, 3]", "tanh")), "vector");
}

TEST_F(CudaPlugins, AgreeWithTheReference) {
  for (const char* sizes : {"[1]", "[257]", "[3, 5, 1031]", "[2, 0]", "[4, 600000]"}) {
    const KernelCase drawn{.text = gelu_of(sizes, "none")};
    const Graph graph = parse(drawn.text);
    ThreadPool pool(1);
    ParameterStore none;
    const std::vector<float> expected = elements_of(
        Interpreter(graph, references(), pool).run(draw_inputs(graph, drawn), none).at("y"));
    NamedTensors inputs;
    for (const auto& [name, tensor] : draw_inputs(graph, drawn))
      inputs.emplace(name, tensor.on(gpu()));
    const std::vector<float> got =
        elements_of(Interpreter(graph, extended(), pool, gpu()).run(inputs, none).at("y"));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i],
                  kGeluUlps * kUlp * std::max(1.0, std::fabs(static_cast<double>(expected[i]))))
          << sizes << " element " << i;
  }
}

}  // namespace
}  // namespace hone::testing
