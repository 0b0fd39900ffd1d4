#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hone {

/// Calls `body` at once and then every `seconds`, from its own thread, during the object's lifetime: heartbeats, timers
/// that must survive a kill. Exceptions of `body` are ignored: the main work meets the same problem and can report it.
class Periodic {
 public:
  Periodic(double seconds, std::function<void()> body);
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void run();

  double seconds_;
  std::function<void()> body_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hone
