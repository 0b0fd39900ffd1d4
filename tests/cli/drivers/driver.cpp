#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include "hone/cuda/driver.h"

// A stand-in for NVIDIA's driver with one GPU, whose memory is the host's. It executes copies, and the kernels that
// tests/cuda/emulated compiled to libraries, but no others. HONE_TEST_GPU simulates faults:
//
//     no_gpu                 a driver without a GPU
//     old_driver, old_gpu    of CUDA 11.4; of compute capability 7.0
//     no_pools               no allocation in stream order
//     full                   no memory left
//     gpus=2                 this number of GPUs
//     error=214              once it is open, all work on its queue fails with this error
//     error=719,after=5      the same after this number of kernel launches
//
// It defines all functions that hone/cuda/driver.cpp loads.
namespace {

using hone::cuda::Address;
using hone::cuda::DeviceAttribute;
using hone::cuda::DeviceNumber;
using hone::cuda::Result;

std::string_view state() {
  const char* const set = std::getenv("HONE_TEST_GPU");
  return set == nullptr ? "" : set;
}

std::optional<int> number_behind(std::string_view name) {
  const std::size_t at = state().find(name);
  if (at == std::string_view::npos) return std::nullopt;
  return std::atoi(std::string(state().substr(at + name.size())).c_str());
}

int launches = 0;

// Work on the queue is executed at once, or recorded while a run is captured.
using Work = std::function<void()>;
using Run = std::vector<Work>;
Run* captured = nullptr;

void put_on_queue(Work work) {
  if (captured != nullptr) return captured->push_back(std::move(work));
  work();
}

// Returns the result of any work on the queue.
Result queue() {
  const std::optional<int> error = number_behind("error=");
  return error && launches >= number_behind("after=").value_or(0) ? *error : 0;
}

// Memory that was allocated and not freed. Nothing else is reserved.
constexpr int kUsedMost = 8;  // CU_MEMPOOL_ATTR_USED_MEM_HIGH
struct {
  std::map<Address, std::size_t> sizes;
  std::size_t used = 0, used_most = 0;
} pool;

void* host(Address address) { return std::bit_cast<void*>(address); }

template <typename Handle>
Result give(Handle* handle) {
  static char some;
  *handle = reinterpret_cast<Handle>(&some);
  return 0;
}

// The driver's names and messages of errors.
struct Words {
  Result result;
  const char *name, *text;
};
constexpr std::array<Words, 4> kWords = {
    {{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
     {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
     {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
     {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}}};

Result say(Result result, const char** said, const char* Words::*member) {
  for (const Words& words : kWords) {
    if (words.result != result) continue;
    *said = words.*member;
    return 0;
  }
  *said = nullptr;
  return 1;
}

}  // namespace

extern "C" {

// For the emulated toolkit, which puts products on the queue.
void emulated_put_on_queue(Work work) { put_on_queue(std::move(work)); }

Result cuGetErrorName(Result result, const char** name) { return say(result, name, &Words::name); }
Result cuGetErrorString(Result result, const char** text) {
  return say(result, text, &Words::text);
}

// ---- opening

Result cuInit(unsigned) { return state() == "no_gpu" ? hone::cuda::kNoDevice : 0; }
Result cuDriverGetVersion(int* version) {
  *version = state() == "old_driver" ? 11040 : 12080;
  return 0;
}
Result cuDeviceGetCount(int* count) {
  *count = number_behind("gpus=").value_or(1);
  return 0;
}
Result cuDeviceGet(DeviceNumber* number, int index) {
  *number = index;
  return 0;
}
Result cuDeviceGetName(char* name, int size, DeviceNumber) {
  std::strncpy(name, "Test GPU", static_cast<std::size_t>(size));
  return 0;
}
Result cuDeviceGetAttribute(int* value, DeviceAttribute fact, DeviceNumber) {
  switch (fact) {
    case DeviceAttribute::major:
      *value = state() == "old_gpu" ? 7 : 8;
      return 0;
    case DeviceAttribute::minor:
      *value = 0;
      return 0;
    case DeviceAttribute::memory_pools:
      *value = state() == "no_pools" ? 0 : 1;
      return 0;
    case DeviceAttribute::multiprocessors:  // few, so that small results use tiles of every size
      *value = 2;
      return 0;
    case DeviceAttribute::max_shared_bytes_per_block:
      *value = 160 << 10;
      return 0;
    default:
      *value = 100;
      return 0;
  }
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber) {
  *bytes = std::size_t{2} << 30;
  return 0;
}
Result cuDevicePrimaryCtxRetain(hone::cuda::ContextHandle* context, DeviceNumber) {
  return give(context);
}
Result cuCtxSetCurrent(hone::cuda::ContextHandle) { return 0; }
Result cuDeviceGetDefaultMemPool(hone::cuda::PoolHandle* pool, DeviceNumber) { return give(pool); }
Result cuMemPoolSetAttribute(hone::cuda::PoolHandle, int which, void*) {
  if (which == kUsedMost) pool.used_most = pool.used;
  return 0;
}
Result cuMemPoolGetAttribute(hone::cuda::PoolHandle, int which, void* value) {
  *static_cast<unsigned long long*>(value) = which == kUsedMost ? pool.used_most : pool.used;
  return 0;
}
Result cuStreamCreate(hone::cuda::StreamHandle* stream, unsigned) { return give(stream); }

// ---- memory

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  cuDeviceTotalMem_v2(total, 0);
  *free = state() == "full" ? 0 : *total - pool.used;
  return queue();
}
Result cuMemAllocAsync(Address* address, std::size_t size, hone::cuda::StreamHandle) {
  std::size_t all = 0;
  cuDeviceTotalMem_v2(&all, 0);
  if (state() == "full" || pool.used + size > all) return hone::cuda::kOutOfMemory;
  if (const Result lost = queue(); lost != 0) return lost;
  void* const memory = ::operator new (size, std::align_val_t{256});
  std::memset(memory, 0, size);
  *address = reinterpret_cast<Address>(memory);
  pool.sizes[*address] = size;
  pool.used += size;
  pool.used_most = std::max(pool.used_most, pool.used);
  return 0;
}
Result cuMemFreeAsync(Address address, hone::cuda::StreamHandle) {
  const auto freed = pool.sizes.find(address);
  pool.used -= freed->second;
  pool.sizes.erase(freed);
  ::operator delete (host(address), std::align_val_t{256});
  return queue();
}
Result cuMemAllocHost_v2(void** memory, std::size_t size) {
  *memory = std::malloc(size);
  return queue();
}
Result cuMemFreeHost(void* memory) {
  std::free(memory);
  return queue();
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t size,
                            hone::cuda::StreamHandle) {
  put_on_queue([=] { std::memcpy(host(to), from, size); });
  return queue();
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t size, hone::cuda::StreamHandle) {
  put_on_queue([=] { std::memcpy(to, host(from), size); });
  return queue();
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t size, hone::cuda::StreamHandle) {
  put_on_queue([=] { std::memmove(host(to), host(from), size); });
  return queue();
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t size,
                       hone::cuda::StreamHandle) {
  put_on_queue([=] { std::memset(host(to), value, size); });
  return queue();
}

// ---- the queue

Result cuStreamSynchronize(hone::cuda::StreamHandle) { return queue(); }
Result cuEventCreate(hone::cuda::EventHandle* event, unsigned) { return give(event); }
Result cuEventDestroy_v2(hone::cuda::EventHandle) { return 0; }
Result cuEventRecord(hone::cuda::EventHandle, hone::cuda::StreamHandle) { return queue(); }
Result cuEventSynchronize(hone::cuda::EventHandle) { return queue(); }
Result cuEventElapsedTime(float* milliseconds, hone::cuda::EventHandle, hone::cuda::EventHandle) {
  *milliseconds = 1;
  return queue();
}

// ---- kernels

Result cuModuleLoadData(hone::cuda::ModuleHandle* module, const void* code) {
  constexpr std::string_view kEmulated = "emulated:";
  give(module);
  if (std::strncmp(static_cast<const char*>(code), kEmulated.data(), kEmulated.size()) == 0) {
    void* const library = dlopen(static_cast<const char*>(code) + kEmulated.size(), RTLD_NOW);
    if (library == nullptr) return 1;
    *module = reinterpret_cast<hone::cuda::ModuleHandle>(library);
  }
  return queue();
}
// Returns the function that launches the kernel, or the handle of kernels that do nothing.
Result cuModuleGetFunction(hone::cuda::FunctionHandle* function, hone::cuda::ModuleHandle module,
                           const char* name) {
  hone::cuda::ModuleHandle nothing = nullptr;
  give(&nothing);
  give(function);
  if (module == nothing) return queue();
  void* const start = dlsym(module, ("emulated_" + std::string(name)).c_str());
  if (start == nullptr) return 1;
  *function = reinterpret_cast<hone::cuda::FunctionHandle>(start);
  return queue();
}
Result cuFuncSetAttribute(hone::cuda::FunctionHandle, int, int) { return 0; }
// Accepts no more blocks and threads than a GPU.
Result cuLaunchKernel(hone::cuda::FunctionHandle function, unsigned grid_x, unsigned grid_y,
                      unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                      unsigned shared_bytes, hone::cuda::StreamHandle, void** arguments, void**) {
  constexpr Result kInvalidValue = 1;
  ++launches;
  const std::size_t threads = std::size_t{block_x} * block_y * block_z;
  if (grid_x == 0 || grid_x > 0x7fffffff || grid_y == 0 || grid_y > 65535 || grid_z == 0 ||
      grid_z > 65535 || threads == 0 || threads > 1024 || shared_bytes > (160u << 10))
    return kInvalidValue;
  hone::cuda::FunctionHandle nothing = nullptr;
  give(&nothing);
  if (function != nothing) {
    using Start = void (*)(const unsigned*, void**, Work*);
    const unsigned extents[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    Work work;
    reinterpret_cast<Start>(function)(extents, arguments, &work);
    put_on_queue(std::move(work));
  }
  return queue();
}
Result cuTensorMapEncodeTiled(void*, int, unsigned, void*, const std::uint64_t*,
                              const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int,
                              int, int, int) {
  return 0;
}

// ---- captured runs

Result cuStreamBeginCapture_v2(hone::cuda::StreamHandle, int) {
  captured = new Run();
  return queue();
}
Result cuStreamEndCapture(hone::cuda::StreamHandle, hone::cuda::GraphHandle* graph) {
  *graph = reinterpret_cast<hone::cuda::GraphHandle>(std::exchange(captured, nullptr));
  return queue();
}
Result cuGraphInstantiateWithFlags(hone::cuda::GraphRunHandle* run, hone::cuda::GraphHandle graph,
                                   unsigned long long) {
  *run = reinterpret_cast<hone::cuda::GraphRunHandle>(new Run(*reinterpret_cast<Run*>(graph)));
  return queue();
}
Result cuGraphLaunch(hone::cuda::GraphRunHandle run, hone::cuda::StreamHandle) {
  ++launches;
  for (const Work& work : *reinterpret_cast<Run*>(run)) work();
  return queue();
}
Result cuGraphExecDestroy(hone::cuda::GraphRunHandle run) {
  delete reinterpret_cast<Run*>(run);
  return 0;
}
Result cuGraphDestroy(hone::cuda::GraphHandle graph) {
  delete reinterpret_cast<Run*>(graph);
  return 0;
}

}  // extern "C"
