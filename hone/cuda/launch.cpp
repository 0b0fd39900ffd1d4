#include "hone/cuda/launch.h"

#include <map>
#include <mutex>
#include <tuple>

namespace hone::cuda {
namespace {

constexpr int kDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

/// The modules loaded into the GPUs' contexts. They stay until the process ends.
class Modules {
 public:
  FunctionHandle function(CudaDevice& device, const Program& program, const char* name,
                          std::size_t shared_bytes) {
    const std::scoped_lock lock(mutex_);
    Loaded& module = loaded(device, program);
    Function& function = module.functions[name];
    if (function.handle == nullptr)
      check(driver().module_function(&function.handle, module.handle, name), name);
    // By default a kernel gets at most 48 KiB of shared memory, including what it declares statically.
    if (shared_bytes > function.shared_bytes) {
      check(driver().function_set(function.handle, kDynamicSharedBytes,
                                  static_cast<int>(shared_bytes)),
            "requesting shared memory");
      function.shared_bytes = shared_bytes;
    }
    return function.handle;
  }

 private:
  struct Function {
    FunctionHandle handle = nullptr;
    std::size_t shared_bytes = 0;
  };
  struct Loaded {
    ModuleHandle handle = nullptr;
    std::map<std::string, Function, std::less<>> functions = {};
  };
  // A plugin's program may have the name of an embedded file, so the source is part of the key.
  using Key = std::tuple<int, std::string_view, std::string_view, std::vector<std::string>>;

  Loaded& loaded(CudaDevice& device, const Program& program) {
    const auto [entry, is_new] = modules_.try_emplace(
        Key{device.index(), program.file, program.source, program.definitions});
    if (is_new || entry->second.handle == nullptr) {
      const std::string code = machine_code(program, device.architecture());
      check(driver().module_load(&entry->second.handle, code.data()), "loading kernels");
    }
    return entry->second;
  }

  std::mutex mutex_;
  std::map<Key, Loaded> modules_;
};

Modules& modules() {
  static auto& all = *new Modules();
  return all;
}

}  // namespace

CudaDevice& device_of(Device& device) {
  auto* const gpu = dynamic_cast<CudaDevice*>(&device);
  HONE_ASSERT(gpu != nullptr, "{} is not a GPU", to_string(device));
  return *gpu;
}

void launch(Device& device, const Launch& start, void** arguments) {
  CudaDevice& gpu = device_of(device);
  gpu.enter();
  const FunctionHandle function =
      modules().function(gpu, start.program, start.function, start.shared_bytes);
  const auto extent = [](std::int64_t n) { return static_cast<unsigned>(n); };
  const Result result =
      driver().launch(function, extent(start.grid.x), extent(start.grid.y), extent(start.grid.z),
                      extent(start.block.x), extent(start.block.y), extent(start.block.z),
                      static_cast<unsigned>(start.shared_bytes), gpu.stream(), arguments, nullptr);
  check(result, start.function);
}

void fill_zeros(Device& device, void* to, std::size_t size_bytes) {
  CudaDevice& gpu = device_of(device);
  gpu.enter();
  if (size_bytes > 0)
    check(driver().fill_bytes(reinterpret_cast<Address>(to), 0, size_bytes, gpu.stream()),
          "filling");
}

}  // namespace hone::cuda
