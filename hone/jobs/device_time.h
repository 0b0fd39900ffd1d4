#pragma once

#include <functional>
#include <span>
#include <string>

#include "hone/base/json.h"
#include "hone/cuda/device.h"
#include "hone/runtime/session.h"

/// Helpers for jobs that measure time on a device.
namespace hone {

/// Returns the device as a GPU, or null.
cuda::CudaDevice* gpu_of(Device& device);

/// Describes the device and its arithmetic: "cpu:0", "cuda:0, NVIDIA H100 80GB HBM3, products of fp32 in tf32, values
/// in bf16".
std::string device_text(const Device& device, DType values);
std::string device_text(const Session& session);

/// Returns "one thread", "2 threads", or the GPU. `device` is a `device_text`.
std::string processor_text(const std::string& device, int threads);

/// Returns how many runs of an executable a GPU needs to prepare itself (cuda/captured.h); 0 on the host.
int preparation_runs(const Device& device);
/// Runs each of `works` that often, so that later timings do not include preparation.
void run_preparation(std::span<const std::function<void()>> works, const Device& device);

/// Returns a clock in seconds for `rounds_in_turn` of work on the device's queue; reading it waits for the queue. A
/// GPU's clock does not advance between two pieces of work; the host uses the steady clock. The device must outlive it.
std::function<double()> clock_of(Device& device);

}  // namespace hone
