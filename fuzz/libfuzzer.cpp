#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"
#include "hone/base/error.h"

// What libFuzzer calls. HONE_FUZZ_TARGET is the target's name, given by the build.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    hone::fuzz::HONE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  } catch (const hone::UserError&) {
  }
  return 0;
}
