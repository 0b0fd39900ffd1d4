#include <cmath>

#include "hone/runtime/plugin.h"

// A CPU kernel defined outside of the library: GELU by the error function, as in BERT, for the operation `gelu`. To
// make your own kernel, copy and change this file.
namespace {

using namespace hone;

// Elements per range. Independent of the number of threads, so that results have the same bits.
constexpr std::int64_t kGrain = 4096;

// Returns the reason for a refusal, or "".
std::string_view accepts(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "x is not f32";
  if (site.attributes.get<std::string>("approximate") != "none") return "it is not by erf";
  return "";
}

// Computes y = x/2 (1 + erf(x / √2)), element by element. y may use the memory of x.
void run(Call& call) {
  const std::int64_t count = call.input(0).count();
  const float* x = call.input(0).data<float>();
  float* y = call.output().data<float>();
  parallel_ranges(call.pool(), count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));
  });
}

}  // namespace

HONE_PLUGIN(library) {
  library.kernels.push_back(
      {.op = "gelu", .device = "cpu", .name = "mine", .accepts = accepts, .run = run});
}
