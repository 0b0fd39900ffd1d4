#include "hone/cuda/convert.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace hone::cuda {

std::string value_definition(DType dtype, std::string_view macro) {
  const char* const type = dtype == DType::f32    ? "float"
                           : dtype == DType::bf16 ? "bfloat16"
                           : dtype == DType::f16  ? "float16"
                                                  : nullptr;
  HONE_ASSERT(type != nullptr, "no values of {} in kernels", info(dtype).name);
  return fmt::format("{}={}", macro, type);
}

Extent blocks_for(Device& device, std::int64_t count, std::int64_t threads) {
  constexpr std::int64_t kThreadsOfMultiprocessor = 2048;
  const std::int64_t most =
      device_of(device).info().multiprocessors * (kThreadsOfMultiprocessor / threads);
  return {std::clamp<std::int64_t>(ceil_divide(count, threads), 1, most)};
}

void convert(Device& device, std::int64_t count, DType from, const void* x, DType to, void* y) {
  static std::mutex mutex;
  static std::map<std::pair<DType, DType>, Program> programs;
  if (count == 0) return;
  const Program* program = nullptr;
  {
    const std::scoped_lock lock(mutex);
    program = &programs
                   .try_emplace({from, to},
                                Program{"convert.cu",
                                        {value_definition(from), value_definition(to, "TARGET")}})
                   .first->second;
  }
  launch(device, {*program, "convert", blocks_for(device, ceil_divide(count, 8), 256), {256}},
         count, x, y);
}

}  // namespace hone::cuda
