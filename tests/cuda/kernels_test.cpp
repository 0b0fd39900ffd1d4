#include <cmath>
#include <cstring>
#include <set>

#include "hone/tensor/dense.h"
#include "tests/cuda/gpu.h"
#include "tests/runtime/image_kernel_cases.h"

// Compares every row of the kernel table for GPUs with its operation's reference: on the graphs that test the CPU's
// kernels, and for quantizers of every format with hard values.
//
// Tolerances. A kernel sums in another order than the CPU's, also in fp32, so the tolerances of those (see
// runtime/cpu_kernels_test.cpp) apply, with room for the GPU's erf, exp and tanh, which are off by some ulp (CUDA C++
// Programming Guide, "Mathematical Functions"). Quantizers, masks, copies and gathers have the reference's bits. With
// 16-bit values, cuBLASLt may round a product before it adds bias and residual, and then their sum: each by half an ulp
// of at most the largest result.
namespace hone::testing {
namespace {

constexpr double kRoom = 4;
constexpr double kFunctionUlps = 16;

class CudaKernels : public OnGpu {
 protected:
  static NamedTensors run(const KernelCase& kernel_case, std::set<std::string>* kernels = nullptr) {
    const Graph graph = parse_graph(kernel_case.text, library().ops, library().formats);
    ThreadPool pool(1);
    ParameterStore none;
    Interpreter interpreter(graph, library(), pool, gpu());
    std::vector<OperationSpan> spans;
    if (kernels != nullptr) interpreter.record(&spans);
    NamedTensors inputs;
    for (const auto& [name, tensor] : draw_inputs(graph, kernel_case))
      inputs.emplace(name, tensor.on(gpu()));
    NamedTensors outputs;
    for (const auto& [name, tensor] : interpreter.run(inputs, none))
      outputs.emplace(name, dense_on(tensor, cpu()));
    if (kernels != nullptr)
      for (const OperationSpan& span : spans) kernels->insert(std::string(span.node->op().name));
    return outputs;
  }

  static std::set<std::string> compare(const std::vector<KernelCase>& cases);
  static void run_twice(const std::vector<KernelCase>& cases);
};

// Returns the error of rounding a value of at most 1 twice, for the types of a case.
double two_roundings(const KernelCase& kernel_case) {
  if (kernel_case.text.find("bf16") != std::string::npos) return 0x1p-8;
  return kernel_case.text.find("f16") != std::string::npos ? 0x1p-11 : 0;
}

void expect_near(const Tensor& got, const Tensor& expected, const KernelCase& kernel_case,
                 const std::string& name) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  if (got.dtype() != DType::f32) {
    ASSERT_EQ(got.dtype(), expected.dtype());
    const Tensor dense = dense_on(expected, cpu());
    ASSERT_EQ(std::memcmp(got.device_pointer(), dense.device_pointer(), got.size_bytes()), 0)
        << name << " of\n"
        << kernel_case.text;
    return;
  }
  const std::vector<float> a = elements_of(got), b = elements_of(expected);
  const bool exact = kernel_case.relative == 0 && kernel_case.absolute == 0;
  double largest = 0;
  for (const float value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  const double rounded = two_roundings(kernel_case) * largest;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    const double size = std::fabs(static_cast<double>(b[i]));
    const double allowed =
        exact ? 0
              : rounded + kRoom * kernel_case.absolute +
                    std::max(kRoom * kernel_case.relative, kFunctionUlps) * kUlp * size;
    ASSERT_NEAR(a[i], b[i], allowed) << name << " element " << i << " of\n" << kernel_case.text;
  }
}

// Runs one case after the other, so that a report names all that fail. Returns why cases are refused.
std::set<std::string> CudaKernels::compare(const std::vector<KernelCase>& cases) {
  std::set<std::string> refused;
  for (const KernelCase& kernel_case : cases) {
    const Graph graph = parse_graph(kernel_case.text, library().ops, library().formats);
    ThreadPool pool(1);
    ParameterStore none;
    const NamedTensors expected =
        Interpreter(graph, references(), pool).run(draw_inputs(graph, kernel_case), none);
    try {
      const NamedTensors got = run(kernel_case);
      for (const auto& [name, tensor] : expected)
        expect_near(got.at(name), tensor, kernel_case, name);
    } catch (const UserError& error) {
      refused.insert(error.what());
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what() << " of\n" << kernel_case.text;
      if (std::string_view(error.what()).find("on the GPU") != std::string_view::npos)
        break;  // nothing more can be run
    }
  }
  return refused;
}

void CudaKernels::run_twice(const std::vector<KernelCase>& cases) {
  for (const KernelCase& kernel_case : cases) {
    try {
      const NamedTensors first = run(kernel_case), second = run(kernel_case);
      for (const auto& [name, tensor] : first)
        ASSERT_EQ(std::memcmp(tensor.device_pointer(), second.at(name).device_pointer(),
                              tensor.size_bytes()),
                  0)
            << name << " of\n"
            << kernel_case.text;
    } catch (const UserError&) {  // reported by `compare`
    }
  }
}

TEST_F(CudaKernels, AgreeWithTheReferences) {
  // Only the CPU has kernels for products of bfloat16 and of signs, and for gradients of some rows of a table. No pass
  // creates these operations where there is no kernel.
  for (const std::string& refusal : compare(kernel_cases())) {
    const bool is_known =
        refusal.find("products do not read codes") != std::string::npos ||
        refusal.find("inputs are not codes") != std::string::npos ||
        refusal.find("no product of integers for these formats") != std::string::npos ||
        refusal.find("_by_row)") != std::string::npos;
    EXPECT_TRUE(is_known) << refusal;
  }
}

TEST_F(CudaKernels, AgreeWithTheReferencesOnImages) {
  for (const std::string& refusal : compare(image_kernel_cases())) ADD_FAILURE() << refusal;
}

TEST_F(CudaKernels, GiveTheSameBitsInEveryRun) { run_twice(kernel_cases()); }
TEST_F(CudaKernels, GiveTheSameBitsOnImagesInEveryRun) { run_twice(image_kernel_cases()); }

/// Makes the GPU multiply in TF32 during its lifetime.
struct InTf32 {
  cuda::CudaDevice& gpu;
  explicit InTf32(cuda::CudaDevice& device) : gpu(device) {
    gpu.set_arithmetic(cuda::Arithmetic::tf32);
  }
  ~InTf32() { gpu.set_arithmetic(cuda::Arithmetic::fp32); }
};

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// Rounding changes operands by at most 2^-11 of themselves, and so products by at most 2^-10. The signs of these
// changes are random, so sums do not change by a larger share.
TEST_F(CudaKernels, ConvolveImagesInTf32) {
  bool is_rounded = false;
  for (const KernelCase& kernel_case : image_kernel_cases()) {
    if (kernel_case.text.find("f16") != std::string::npos ||
        kernel_case.text.find("groups=1") == std::string::npos)
      continue;
    const NamedTensors exact = run(kernel_case);
    const InTf32 arithmetic(gpu());
    for (const auto& [name, tensor] : run(kernel_case)) {
      std::vector<float> changes = elements_of(tensor);
      const std::vector<float> expected = elements_of(exact.at(name));
      for (std::size_t i = 0; i < changes.size(); ++i) changes[i] -= expected[i];
      EXPECT_LE(norm(changes), 0x1p-10 * norm(expected)) << name << " of\n" << kernel_case.text;
      is_rounded |= norm(changes) > 0;
    }
  }
  EXPECT_TRUE(is_rounded);
}

}  // namespace
}  // namespace hone::testing
