#include "hone/jobs/device_time.h"

#include <memory>

#include "hone/jobs/paired_times.h"

namespace hone {
namespace {

/// Adds up the time that a GPU works.
class GpuClock {
 public:
  explicit GpuClock(cuda::CudaDevice& gpu) : watch_(gpu) { watch_.start(); }
  double read() {
    seconds_ += watch_.stop_seconds();
    watch_.start();
    return seconds_;
  }

 private:
  cuda::Stopwatch watch_;
  double seconds_ = 0;
};

}  // namespace

cuda::CudaDevice* gpu_of(Device& device) { return dynamic_cast<cuda::CudaDevice*>(&device); }

std::string device_text(const Device& device, DType values) {
  std::string text = to_string(device);
  if (const std::string more = device.description(); !more.empty()) text += ", " + more;
  if (values != DType::f32) text += fmt::format(", values in {}", info(values).name);
  return text;
}

std::string device_text(const Session& session) {
  return device_text(session.device, session.values);
}

std::string processor_text(const std::string& device, int threads) {
  if (device != to_string(cpu())) return device;
  return threads == 1 ? "one thread" : fmt::format("{} threads", threads);
}

int preparation_runs(const Device& device) { return device.host_accessible() ? 0 : 3; }

void run_preparation(std::span<const std::function<void()>> works, const Device& device) {
  for (int i = 0; i < preparation_runs(device); ++i)
    for (const std::function<void()>& work : works) work();
}

std::function<double()> clock_of(Device& device) {
  if (cuda::CudaDevice* const gpu = gpu_of(device))
    return [clock = std::make_shared<GpuClock>(*gpu)] { return clock->read(); };
  return [&device] {
    device.wait();
    return steady_seconds();
  };
}

}  // namespace hone
