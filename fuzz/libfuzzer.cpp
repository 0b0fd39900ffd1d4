#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"
#include "hone/base/error.h"

// The entry point for libFuzzer. The build defines HONE_FUZZ_TARGET as the target's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    hone::fuzz::HONE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  } catch (const hone::UserError&) {
  }
  return 0;
}
