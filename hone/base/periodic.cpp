#include "hone/base/periodic.h"

#include <chrono>
#include <exception>
#include <utility>

namespace hone {

Periodic::Periodic(double seconds, std::function<void()> body)
    : seconds_(seconds), body_(std::move(body)), thread_([this] { run(); }) {}

Periodic::~Periodic() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Periodic::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    try {
      body_();
    } catch (const std::exception&) {
    }
    lock.lock();
    wake_.wait_for(lock, std::chrono::duration<double>(seconds_), [this] { return ended_; });
  }
}

}  // namespace hone
