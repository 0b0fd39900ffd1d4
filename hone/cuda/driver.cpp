#include "hone/cuda/driver.h"

#include "hone/base/error.h"
#include "hone/cuda/shared_library.h"

namespace hone::cuda {
namespace {

// CUDA 12.0, the oldest version with all functions that are called.
constexpr int kOldestVersion = 12000;

// Returns whether a kernel failed, by an invalid access or instruction. The context is lost then.
bool is_kernel_fault(Result result) { return result == 700 || (result >= 714 && result <= 719); }

struct LoadedDriver {
  Driver functions = {};
  std::string missing;

  LoadedDriver() {
    Driver& f = functions;
    const char* const names[] = {"libcuda.so.1"};
    const Symbol symbols[] = {{"cuGetErrorName", &f.get_error_name},
                              {"cuGetErrorString", &f.get_error_string},
                              {"cuInit", &f.init},
                              {"cuDriverGetVersion", &f.driver_version},
                              {"cuDeviceGetCount", &f.device_count},
                              {"cuDeviceGet", &f.device_get},
                              {"cuDeviceGetName", &f.device_name},
                              {"cuDeviceGetAttribute", &f.device_attribute},
                              {"cuDeviceTotalMem_v2", &f.device_memory},
                              {"cuDevicePrimaryCtxRetain", &f.retain_context},
                              {"cuCtxSetCurrent", &f.set_context},
                              {"cuMemGetInfo_v2", &f.memory_info},
                              {"cuDeviceGetDefaultMemPool", &f.default_pool},
                              {"cuMemPoolSetAttribute", &f.pool_set},
                              {"cuMemPoolGetAttribute", &f.pool_get},
                              {"cuMemAllocAsync", &f.allocate},
                              {"cuMemFreeAsync", &f.free},
                              {"cuMemAllocHost_v2", &f.allocate_host},
                              {"cuMemFreeHost", &f.free_host},
                              {"cuMemcpyHtoDAsync_v2", &f.upload},
                              {"cuMemcpyDtoHAsync_v2", &f.download},
                              {"cuMemcpyDtoDAsync_v2", &f.copy},
                              {"cuMemsetD8Async", &f.fill_bytes},
                              {"cuStreamCreate", &f.stream_create},
                              {"cuStreamSynchronize", &f.stream_wait},
                              {"cuEventCreate", &f.event_create},
                              {"cuEventDestroy_v2", &f.event_destroy},
                              {"cuEventRecord", &f.event_record},
                              {"cuEventSynchronize", &f.event_wait},
                              {"cuEventElapsedTime", &f.event_milliseconds},
                              {"cuModuleLoadData", &f.module_load},
                              {"cuModuleGetFunction", &f.module_function},
                              {"cuFuncSetAttribute", &f.function_set},
                              {"cuLaunchKernel", &f.launch},
                              {"cuStreamBeginCapture_v2", &f.capture_begin},
                              {"cuStreamEndCapture", &f.capture_end},
                              {"cuGraphInstantiateWithFlags", &f.graph_instantiate},
                              {"cuGraphLaunch", &f.graph_launch},
                              {"cuGraphExecDestroy", &f.graph_run_destroy},
                              {"cuGraphDestroy", &f.graph_destroy},
                              {"cuTensorMapEncodeTiled", &f.encode_tensor_map}};
    missing = load_library(names, symbols);
    if (!missing.empty()) {
      missing = "NVIDIA's driver: " + missing;
      return;
    }
    if (const Result result = f.init(0); result != 0) {
      missing = result == kNoDevice
                    ? "NVIDIA's driver finds no GPU"
                    : fmt::format("NVIDIA's driver does not start ({})", words(result));
      return;
    }
    int version = 0;
    f.driver_version(&version);
    if (version < kOldestVersion)
      missing = fmt::format("NVIDIA's driver is too old: it is for CUDA {}.{}, hone needs {}.{}",
                            version / 1000, version % 1000 / 10, kOldestVersion / 1000,
                            kOldestVersion % 1000 / 10);
  }

  std::string words(Result result) const {
    const char *name = nullptr, *text = nullptr;
    functions.get_error_name(result, &name);
    functions.get_error_string(result, &text);
    if (name == nullptr || text == nullptr) return fmt::format("error {}", result);
    return fmt::format("{}: {}", name, text);
  }
};

const LoadedDriver& loaded() {
  static const LoadedDriver driver;
  return driver;
}

}  // namespace

const Driver& driver() {
  user_check(loaded().missing.empty(), "no GPU can be used: {}; omit --device to run on the CPU",
             loaded().missing);
  return loaded().functions;
}

std::string driver_missing() { return loaded().missing; }

std::string describe(Result result) { return loaded().words(result); }

void check(Result result, const char* tried) {
  if (result == 0) return;
  const std::string message = fmt::format("{} failed on the GPU: {}", tried, describe(result));
  if (is_kernel_fault(result)) throw InternalError(message);
  throw UserError(message + "; see nvidia-smi and the system log; omit --device to run on the CPU");
}

}  // namespace hone::cuda
