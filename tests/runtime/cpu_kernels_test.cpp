#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/runtime/kernel_cases.h"

// Every row of the CPU's kernel table against its operation's reference: one or more graphs per
// row, run with the kernels and without.
//
// Tolerances. A kernel that does the reference's fp32 operation on the same operands has its bits:
// allowed 0. The others allow `relative` units in the last place (2^-23 of the result) plus
// `absolute`, which stands for sums. Inputs are uniform in [-2, 2), products of two have a
// deviation of 4/3, so that sums of n of them stay near sqrt(n) and their n roundings of random
// sign amount to about n 2^-24; sum_of() allows eight times that.
namespace hone::testing {
namespace {

const Library& with_kernels() {
  static const Library library = builtin_library();
  return library;
}

struct Results {
  NamedTensors outputs;
  std::set<std::string> kernels;  ///< "operation / kernel"
};

Results run(const KernelCase& kernel_case, const Library& library, int threads) {
  const Graph graph = parse_graph(kernel_case.text, library.ops, library.formats);
  ThreadPool pool(threads);
  ParameterStore none;
  Interpreter interpreter(graph, library, pool);
  interpreter.start_profile();
  Results result{interpreter.run(draw_inputs(graph, kernel_case), none), {}};
  for (const auto& [name, time] : interpreter.profile()) result.kernels.insert(name);
  return result;
}

void expect_near(const Tensor& got, const Tensor& expected, const KernelCase& kernel_case,
                 const std::string& name) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  const std::vector<float> a = elements_of(got), b = elements_of(expected);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double allowed =
        kernel_case.absolute + kernel_case.relative * kUlp * std::fabs(static_cast<double>(b[i]));
    ASSERT_NEAR(a[i], b[i], allowed) << name << " element " << i << " of\n" << kernel_case.text;
  }
}

TEST(CpuKernels, AgreeWithTheReferences) {
  for (const KernelCase& kernel_case : kernel_cases()) {
    const Results expected = run(kernel_case, references(), 1),
                  got = run(kernel_case, with_kernels(), 1);
    for (const auto& [name, tensor] : expected.outputs)
      expect_near(got.outputs.at(name), tensor, kernel_case, name);
  }
}

TEST(CpuKernels, GiveTheSameBitsForAnyNumberOfThreads) {
  for (const KernelCase& kernel_case : kernel_cases()) {
    const Results one = run(kernel_case, with_kernels(), 1),
                  three = run(kernel_case, with_kernels(), 3);
    for (const auto& [name, tensor] : one.outputs)
      ASSERT_EQ(elements_of(three.outputs.at(name)), elements_of(tensor)) << name << " of\n"
                                                                          << kernel_case.text;
  }
}

TEST(CpuKernels, HaveACaseForEveryRowOfTheTable) {
  std::set<std::string> covered;
  for (const KernelCase& kernel_case : kernel_cases())
    covered.merge(run(kernel_case, with_kernels(), 1).kernels);
  for (const Kernel& kernel : with_kernels().kernels)
    EXPECT_TRUE(covered.contains(fmt::format("{} / {}", kernel.op, kernel.name)))
        << kernel.op << " / " << kernel.name;
}

}  // namespace
}  // namespace hone::testing
