#pragma once

#include <functional>
#include <span>
#include <string>

#include "hone/base/json.h"
#include "hone/cuda/device.h"
#include "hone/runtime/session.h"

/// What jobs that take times need to know of the device that they are taken on.
namespace hone {

/// The GPU that a device is; null for another.
cuda::CudaDevice* gpu_of(Device& device);

/// Where and with which values graphs run: "cpu:0", "cuda:0, NVIDIA H100 80GB HBM3, products of fp32 in tf32, values in bf16".
std::string device_text(const Device& device, DType values);
std::string device_text(const Session& session);

/// For people: "one thread", "2 threads", or the GPU. `device` is a `device_text`.
std::string ran_on(const std::string& device, int threads);

/// Runs of an executable in which the device makes itself ready (cuda/captured.h); 0: the host.
int readying_runs(const Device& device);
/// Runs each of `works` that often, so that timings that follow count none of these runs.
void make_ready(std::span<const std::function<void()>> works, const Device& device);

/// A clock for `rounds_in_turn` of work that is put on the device's queue: readings wait for what was put there, and tell
/// seconds apart. A GPU's own, which does not run between two pieces of work; of the host the steady one. The device must
/// outlive it.
std::function<double()> clock_of(Device& device);

}  // namespace hone
