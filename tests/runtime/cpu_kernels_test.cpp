#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "tests/runtime/image_kernel_cases.h"
#include "tests/support/expect.h"

// Every row of the CPU's kernel table against the reference of its operation: one or more graphs per row, run with and
// without the kernels.
//
// Tolerances: A kernel that performs the reference's fp32 operation on the same operands has the same bits and is
// allowed 0. The others are allowed `relative` units in the last place (2^-23 of the result) plus `absolute`, the error
// of sums. Inputs are uniform in [-2, 2), and products of two have a standard deviation of 4/3. So sums of n of them
// stay near sqrt(n), and their n roundings of random sign add up to about n 2^-24. sum_of() allows eight times that.
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
  std::vector<OperationSpan> spans;
  interpreter.record(&spans);
  Results result{interpreter.run(draw_inputs(graph, kernel_case), none), {}};
  for (const auto& [name, time] : kernel_times(spans)) result.kernels.insert(name);
  return result;
}

void expect_equal(const Tensor& got, const Tensor& expected, const KernelCase& kernel_case,
                  const std::string& name) {
  // Compares bytes, because NaN equals nothing.
  const auto equal = [&]<typename T>(T) {
    const std::vector<T> a = elements_of<T>(got), b = elements_of<T>(expected);
    ASSERT_EQ(a.size(), b.size());
    ASSERT_TRUE(std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b))))
        << name << " of\n"
        << kernel_case.text;
  };
  if (expected.dtype() == DType::i64)
    equal(std::int64_t{});
  else
    equal(float{});
}

void expect_near(const Tensor& got, const Tensor& expected, const KernelCase& kernel_case,
                 const std::string& name) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  if (expected.dtype() == DType::i64) return expect_equal(got, expected, kernel_case, name);
  const std::vector<float> a = elements_of(got), b = elements_of(expected);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double allowed =
        kernel_case.absolute + kernel_case.relative * kUlp * std::fabs(static_cast<double>(b[i]));
    ASSERT_NEAR(a[i], b[i], allowed) << name << " element " << i << " of\n" << kernel_case.text;
  }
}

TEST(CpuKernels, AgreeWithTheReferences) {
  for (const KernelCase& kernel_case : all_kernel_cases()) {
    const Results expected = run(kernel_case, references(), 1),
                  got = run(kernel_case, with_kernels(), 1);
    for (const auto& [name, tensor] : expected.outputs)
      expect_near(got.outputs.at(name), tensor, kernel_case, name);
  }
}

TEST(CpuKernels, GiveTheSameBitsForAnyNumberOfThreads) {
  for (const KernelCase& kernel_case : all_kernel_cases()) {
    const Results one = run(kernel_case, with_kernels(), 1),
                  three = run(kernel_case, with_kernels(), 3);
    for (const auto& [name, tensor] : one.outputs)
      expect_equal(three.outputs.at(name), tensor, kernel_case, name);
  }
}

// The reference reports invalid targets, as if there were no kernel.
TEST(CpuKernels, LeaveTargetsThatAreNoneToTheReference) {
  const std::pair<const char*, const char*> refusals[] = {
      {"mean_squared_error", "target nan is not a finite number"},
      {"binary_cross_entropy", "target nan is outside [0, 1]"}};
  for (const auto& [op, message] : refusals) {
    const std::string inputs = "%x = input : f32[1, 2]\n%targets = input : f32[1, 2]\n";
    const std::string loss = fmt::format("%y = {}(%x, %targets) : f32[]\noutput y = %y\n", op),
                      gradient = fmt::format(
                          "%scale = input : f32[]\n%y = {}_gradient(%x, %targets, %scale) : "
                          "f32[1, 2]\noutput y = %y\n",
                          op);
    for (const std::string& text : {inputs + loss, inputs + gradient}) {
      const KernelCase bad{.text = text,
                           .given = {{"targets", Tensor::of<float>({1, 2}, {1, std::nanf("")})}}};
      expect_user_error(message, [&] { run(bad, with_kernels(), 1); });
    }
  }
}

TEST(CpuKernels, HaveACaseForEveryRowOfTheTable) {
  std::set<std::string> covered;
  for (const KernelCase& kernel_case : all_kernel_cases())
    covered.merge(run(kernel_case, with_kernels(), 1).kernels);
  for (const Kernel& kernel : with_kernels().kernels)
    EXPECT_TRUE(covered.contains(fmt::format("{} / {}", kernel.op, kernel.name)))
        << kernel.op << " / " << kernel.name;
}

}  // namespace
}  // namespace hone::testing
