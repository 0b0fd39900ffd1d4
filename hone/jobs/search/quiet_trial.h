#pragma once

#include "hone/runtime/context.h"

namespace hone {

/// What goes on within a trial is not shown while this lives: progress is that of all trials.
class QuietTrial {
 public:
  explicit QuietTrial(Context& context) : context_(context), shown_(context.progress) {
    context_.progress.quiet = true;
  }
  ~QuietTrial() { context_.progress = shown_; }
  QuietTrial(const QuietTrial&) = delete;
  QuietTrial& operator=(const QuietTrial&) = delete;

 private:
  Context& context_;
  ProgressOutput shown_;
};

}  // namespace hone
