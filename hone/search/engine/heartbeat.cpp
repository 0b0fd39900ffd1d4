#include "hone/search/engine/heartbeat.h"

#include <chrono>

namespace hone {

Heartbeat::Heartbeat(StudyStorage& storage, std::int64_t trial, double seconds)
    : storage_(storage), trial_(trial), seconds_(seconds), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    try {
      storage_.beat(trial_);
    } catch (const std::exception&) {
    }
    lock.lock();
    wake_.wait_for(lock, std::chrono::duration<double>(seconds_), [this] { return ended_; });
  }
}

}  // namespace hone
