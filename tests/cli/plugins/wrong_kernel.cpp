#include "hone/cuda/launch.h"
#include "hone/runtime/plugin.h"

// A kernel for GPUs whose source does not compile.
namespace {

std::string_view anything(const hone::CallSite&) { return ""; }

void run(hone::Call& call) {
  static const hone::cuda::Program program{.file = "wrong.cu", .source = "#error \"wrong\"\n"};
  hone::cuda::launch(call.device, {program, "wrong", {1}, {1}}, hone::cuda::floats(call, 0));
}

}  // namespace

HONE_PLUGIN(library) {
  library.kernels.push_back(
      {.op = "gelu", .device = "cuda", .name = "wrong", .accepts = anything, .run = run});
}
