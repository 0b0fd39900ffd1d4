#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hone {

/// Calls `body` at once and every so many seconds, from a thread of its own, as long as the object is there: heartbeats, clocks
/// that outlive a kill. What `body` throws is dropped: whoever works meets the same trouble and can say so.
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
