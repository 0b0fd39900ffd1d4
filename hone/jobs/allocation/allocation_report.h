#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/allocation/allocation_sentences.h"
#include "hone/jobs/before_and_after.h"
#include "hone/models/model_size.h"
#include "hone/study/result.h"

namespace hone {

/// The format of a layer and its neighbours in bits, in results.
struct AllocatedLayer {
  std::string layer, format;
  std::optional<double> sparsity = {};
  std::optional<std::string> structure = {};
  double bits = 0, divergence = 0;
  std::optional<std::string> cheaper = {};
  std::optional<double> cheaper_bits = {}, cheaper_divergence = {};
  std::optional<std::string> better = {};
  std::optional<double> better_bits = {}, better_divergence = {};
};
const Fields& fields_of(const AllocatedLayer*);

/// A whole model that was evaluated, in results.
struct EvaluatedAllocation {
  std::int64_t trial = 0;
  PointKind kind = PointKind::front;
  double average_bits = 0;
  std::int64_t packed_bytes = 0;
  std::optional<double> latency_ms = {};
  double predicted = 0, divergence = 0, divergence_low = 0, divergence_high = 0;
  double metric = 0;
  Interval metric_interval = {};
  bool within = false, chosen = false;
};
const Fields& fields_of(const EvaluatedAllocation*);

/// Predicted latency (sum over layers) and measured latency of the whole model, in results.
struct AllocationLatency {
  std::string device = {};
  double predicted_ms = 0;
  TimesInTurn times = {};
  std::int64_t batch_size = 0, tokens = 0;
  double rest_ms = 0, cost_error_ms = 0;
};
const Fields& fields_of(const AllocationLatency*);

/// The machine-readable result.
struct AllocateFields {
  SubjectResult subject;
  std::vector<std::string> options = {};
  std::vector<AllocationBudget> budgets = {};
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  MeasuredSplitResult chosen_on = {};
  std::int64_t sensitivity_examples = 0;
  std::int64_t front_points = 0;
  std::int64_t front_cost_error = 0;
  std::int64_t front_costs = 0;
  double min_predicted = 0;
  PredictionCheck prediction = {};
  std::int64_t trial = 0;
  double average_bits = 0;
  std::int64_t packed_bytes = 0;
  double divergence = 0, predicted = 0;
  std::optional<AllocationLatency> latency = {};
  double front_divergence = 0;
  std::int64_t from_store = 0;
  std::vector<AllocatedLayer> layers = {};
  std::vector<EvaluatedAllocation> points = {};
  EvaluationResult validation = {};
  ModelSize size = {};
  BeforeAndAfterResult both = {};
};
const Fields& fields_of(const AllocateFields*);

/// Evaluates the chosen model once on the reported split, against its baseline. Writes allocation.csv, the figure, the
/// recipe and the report into the folder, whose `best` contains the model. `document` has the title and notes.
JobResult report_allocation(const AllocationFindings& findings, const TrialModel& made,
                            Document document, OutputFolder& output, Context& context);

}  // namespace hone
