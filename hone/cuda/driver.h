#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// The functions of the CUDA Driver API, loaded from the driver's library at first use: CUDA is needed neither to build
/// this program nor to run it on the CPU.
namespace hone::cuda {

// Declared as in cuda.h, which is not available when this is compiled.
using Result = int;
using DeviceNumber = int;
using Address = unsigned long long;  // of device memory
using ContextHandle = struct ContextRecord*;
using ModuleHandle = struct ModuleRecord*;
using FunctionHandle = struct FunctionRecord*;
using StreamHandle = struct StreamRecord*;
using EventHandle = struct EventRecord*;
using GraphHandle = struct GraphRecord*;
using GraphRunHandle = struct GraphRunRecord*;
using PoolHandle = struct PoolRecord*;

inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoDevice = 100;

/// The `CUdevice_attribute`s that are queried.
enum class DeviceAttribute : int {
  max_shared_bytes_per_block = 97,
  multiprocessors = 16,
  cache_bytes = 38,
  major = 75,
  minor = 76,
  memory_pools = 115,
};

struct Driver {
  Result (*get_error_name)(Result, const char**);
  Result (*get_error_string)(Result, const char**);
  Result (*init)(unsigned);
  Result (*driver_version)(int*);
  Result (*device_count)(int*);
  Result (*device_get)(DeviceNumber*, int index);
  Result (*device_name)(char*, int size, DeviceNumber);
  Result (*device_attribute)(int*, DeviceAttribute, DeviceNumber);
  Result (*device_memory)(std::size_t*, DeviceNumber);
  Result (*retain_context)(ContextHandle*, DeviceNumber);
  Result (*set_context)(ContextHandle);
  Result (*memory_info)(std::size_t* free, std::size_t* total);
  Result (*default_pool)(PoolHandle*, DeviceNumber);
  Result (*pool_set)(PoolHandle, int attribute, void* value);
  Result (*pool_get)(PoolHandle, int attribute, void* value);
  Result (*allocate)(Address*, std::size_t, StreamHandle);
  Result (*free)(Address, StreamHandle);
  Result (*allocate_host)(void**, std::size_t);
  Result (*free_host)(void*);
  Result (*upload)(Address, const void*, std::size_t, StreamHandle);
  Result (*download)(void*, Address, std::size_t, StreamHandle);
  Result (*copy)(Address, Address, std::size_t, StreamHandle);
  Result (*fill_bytes)(Address, unsigned char, std::size_t, StreamHandle);
  Result (*stream_create)(StreamHandle*, unsigned flags);
  Result (*stream_wait)(StreamHandle);
  Result (*event_create)(EventHandle*, unsigned flags);
  Result (*event_destroy)(EventHandle);
  Result (*event_record)(EventHandle, StreamHandle);
  Result (*event_wait)(EventHandle);
  Result (*event_milliseconds)(float*, EventHandle, EventHandle);
  Result (*module_load)(ModuleHandle*, const void* image);
  Result (*module_function)(FunctionHandle*, ModuleHandle, const char*);
  Result (*function_set)(FunctionHandle, int attribute, int value);
  Result (*launch)(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared_bytes, StreamHandle, void** arguments, void** extra);
  Result (*capture_begin)(StreamHandle, int mode);
  Result (*capture_end)(StreamHandle, GraphHandle*);
  Result (*graph_instantiate)(GraphRunHandle*, GraphHandle, unsigned long long flags);
  Result (*graph_launch)(GraphRunHandle, StreamHandle);
  Result (*graph_run_destroy)(GraphRunHandle);
  Result (*graph_destroy)(GraphHandle);
  /// `map` points to 128 bytes, aligned to 64.
  Result (*encode_tensor_map)(void* map, int data_type, unsigned rank, void* address,
                              const std::uint64_t* sizes, const std::uint64_t* strides_bytes,
                              const std::uint32_t* box, const std::uint32_t* element_strides,
                              int interleave, int swizzle, int cache_promotion, int fill);
};

/// Returns the initialized driver. Throws `UserError` with the reason if it is missing, too old, or has no device.
const Driver& driver();

/// Returns why the driver cannot be used: "NVIDIA's driver is there, but no GPU"; "" if it can.
std::string driver_missing();

/// Throws if `result` is an error, with what was tried and the driver's message: `InternalError` if a kernel failed,
/// for example by an invalid access, else `UserError`.
void check(Result result, const char* tried);

/// Returns the driver's message for a result: "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
std::string describe(Result result);

}  // namespace hone::cuda
