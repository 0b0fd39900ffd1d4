#pragma once

#include "hone/jobs/bench_attention.h"
#include "hone/labs/lab.h"

/// Lab 4.2: attention step by step against attention as one operation.
namespace hone {

/// A shape of attention, and how often each way is run.
struct TimedAttention {
  AttentionShape shape;
  std::int64_t runs = 100;

  /// "32 x 8 x 128 x 64"
  std::string name() const;
};

/// The lab with the shapes that these fidelities have.
Lab attention_lab(std::function<std::vector<TimedAttention>(Fidelity)> shapes);
/// With the usual ones: that of the lab's sheet, and longer texts.
Lab attention_lab();

}  // namespace hone
