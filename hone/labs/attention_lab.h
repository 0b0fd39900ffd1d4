#pragma once

#include "hone/jobs/bench_attention.h"
#include "hone/labs/lab.h"

/// Lab 4.2: naive attention, step by step, against attention as one operation.
namespace hone {

/// A shape of attention, and the number of runs of each implementation.
struct TimedAttention {
  AttentionShape shape;
  std::int64_t runs = 100;

  /// Returns "32 x 8 x 128 x 64".
  std::string name() const;
};

/// An implementation of attention, or a device that it was not run on.
struct LabAttentionResult {
  std::string shape, device, dtype;
  std::optional<AttentionImplementation> impl = {};
  std::optional<double> first_ms = {}, median_ms = {};
  std::optional<Speedup> speedup = {};
  std::optional<double> mean_5 = {}, mean_20 = {}, mean_100 = {};
  std::optional<std::int64_t> score_bytes = {}, value_bytes = {}, needed_bytes = {};
  std::optional<double> relative_difference = {};
  std::optional<std::string> why_not = {};
};
/// The cost of operations in a run.
struct LabOperatorResult {
  std::string shape, dtype;
  AttentionImplementation impl = AttentionImplementation::naive;
  std::string operation;
  std::optional<std::string> kernel = {};
  std::int64_t calls = 0;
  double self_ms = 0, share = 0, call_us = 0;
  std::int64_t moved_bytes = 0;
};
struct AttentionLabFields {
  LabFields lab = {};
  std::vector<LabAttentionResult> overview = {};
  std::vector<LabOperatorResult> operators = {};
  std::vector<PublishedResult> published = {};
};
const Fields& fields_of(const LabAttentionResult*);
const Fields& fields_of(const LabOperatorResult*);
const Fields& fields_of(const AttentionLabFields*);

/// Returns the lab with the shapes of each fidelity.
Lab attention_lab(std::function<std::vector<TimedAttention>(Fidelity)> shapes);
/// Returns the lab with the default shapes: that of the lab's sheet, and longer texts.
Lab attention_lab();

}  // namespace hone
