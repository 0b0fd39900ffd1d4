#include <algorithm>

#include "hone/cuda/launch.h"
#include "hone/runtime/plugin.h"

// A GPU kernel defined outside of the library: GELU by the error function, as in BERT, for the operation `gelu`. To
// make your own kernel, copy and change this file.
namespace {

using namespace hone;

// CUDA C++17. hone compiles it for the GPU at hand when the kernel is first run, and caches the result. It may include
// the same files as hone's own kernels: numbers.cuh defines thread_number() and std::int64_t. The operation's reference
// computes the same formula in double.
constexpr std::string_view kSource = R"cuda(
#include "hone/kernels/scalar/activation.h"
#include "numbers.cuh"

extern "C" __global__ void gelu(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = thread_number(); i < count; i += all_threads())
    y[i] = hone::scalar::gelu_erf(x[i]);
}
)cuda";

// Returns the reason for a refusal, or "".
std::string_view accepts(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "x is not f32";
  if (site.attributes.get<std::string>("approximate") != "none") return "it is not by erf";
  return "";
}

// Puts the work on the GPU's queue, and returns before it is done.
void run(Call& call) {
  static const cuda::Program program{.file = "gelu.cu", .source = kSource};
  constexpr std::int64_t kThreads = 256, kMaxBlocks = 4096;
  const float* const x = cuda::floats(call, 0);
  const std::int64_t count = call.input(0).count();
  // After x, since y may reuse its memory. Each thread reads its element before it writes it.
  float* const y = cuda::pointer<float>(call.output());
  if (count == 0) return;
  const std::int64_t blocks = std::min(cuda::ceil_divide(count, kThreads), kMaxBlocks);
  cuda::launch(call.device, {program, "gelu", {blocks}, {kThreads}}, x, y, count);
}

}  // namespace

HONE_PLUGIN(library) {
  library.kernels.push_back(
      {.op = "gelu", .device = "cuda", .name = "mine", .accepts = accepts, .run = run});
}
