#pragma once

#include "hone/runtime/context.h"

namespace hone {

/// Hides the progress within a trial while it lives; the progress of all trials is shown instead.
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
