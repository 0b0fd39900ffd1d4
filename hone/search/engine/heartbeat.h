#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "hone/search/storage/storage.h"

namespace hone {

/// Says that the worker of a running trial lives, at once and every so many seconds, from a thread of its own, as long as the object is there.
/// What the storage throws is left to whoever writes to the trial next.
class Heartbeat {
 public:
  Heartbeat(StudyStorage& storage, std::int64_t trial, double seconds);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  StudyStorage& storage_;
  std::int64_t trial_;
  double seconds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hone
