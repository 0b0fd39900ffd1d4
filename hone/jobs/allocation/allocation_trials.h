#pragma once

#include <memory>

#include "hone/jobs/allocation/allocation_problem.h"
#include "hone/jobs/search/search_trial.h"
#include "hone/jobs/search/trial_cache.h"
#include "hone/search/search.h"
#include "hone/study/layer_sensitivity.h"

/// Evaluates allocations as trials of a study, in the form of a search over the formats of each layer.
namespace hone {

/// Why an allocation is measured.
enum class PointKind : std::uint8_t {
  front,  ///< a point of the exact front
  swap,   ///< the best front point, with two layers changed
};
std::span<const EnumName> enum_names(PointKind);
inline std::string_view to_string(PointKind kind) { return enum_name(kind); }

/// An allocation to measure.
struct PlannedPoint {
  PointKind kind = PointKind::front;
  Allocation allocation;
  double predicted = 0;  ///< sum of the divergences of single layers
};

/// A measured allocation.
struct MeasuredPoint {
  std::int64_t trial = 0;  ///< its number
  PointKind kind = PointKind::front;
  Allocation allocation;
  double predicted = 0;
  Divergence divergence = {};  ///< on the split used for choices
  double metric = 0;           ///< the task's metric on the same split
  Interval metric_interval = {};
  double average_bits = 0;
  std::int64_t packed_bytes = 0;
  double latency_ms = 0;  ///< sum over layers; 0: no budget limits it
};

/// Returns the recipe of a search that minimizes the divergence within the budgets. Each linear takes one of the
/// options; linears that one glob matches share it. Parameters are "LAYER.format", "LAYER.sparsity" and
/// "LAYER.structure", or "GLOB.format".
SearchRecipe allocation_space(const AllocationRequest& request,
                              const std::vector<std::string>& layers, const FormatTable& formats);

/// Measures allocations in a study of two objectives, divergence and the quantity of the first budget; the budgets are
/// constraints. Allocations that the study contains already are not measured again.
class AllocationTrials {
 public:
  /// Opens or creates the study in `file`. `recipe` comes from `allocation_space`; `cache` is a trial cache or empty.
  /// Every referenced object must outlive this one.
  AllocationTrials(const TrialSubject& subject, const LayerCosts& costs,
                   const AllocationRequest& request, SearchRecipe recipe, const fs::path& file,
                   const fs::path& cache, Context& context);

  /// Returns the study attribute under this key; null if there is none.
  Json attribute(const std::string& key);
  void set_attribute(const std::string& key, const Json& value);
  /// Returns the value that the study remembers under `key`, else the one that the trial cache has for `of`, else
  /// `find()`. Stores it in both.
  Json find_or_compute(const std::string& key, const Json& of, const std::function<Json()>& find);
  /// Returns how many whole models came from the trial cache.
  std::int64_t from_store();
  /// Returns the recipe of a search that starts from the measured points of the front.
  std::string search_recipe();

  /// Measures these, and returns all allocations measured so far by trial number, without failed ones. Throws
  /// `Interrupted`, and `UserError` with the first failure if none could be measured.
  std::vector<MeasuredPoint> measure(const std::vector<PlannedPoint>& wanted);

  /// Returns the model of an allocation. Only the best one within the budgets is kept; others are rebuilt, bit for bit.
  TrialModel model_of(const Allocation& allocation);
  void close() { storage_->close(); }

 private:
  std::string name_of(const std::string& layer) const;
  Json decoded_values(const Allocation& allocation) const;
  Json values_of(const Allocation& allocation) const;
  Allocation allocation_of(const Assignment& values) const;
  void enqueue(const std::vector<PlannedPoint>& wanted);
  TrialRecord record_of(const TrialConfiguration& configuration, const Allocation& allocation);
  TrialOutcome run(TrialRun& run);
  std::vector<MeasuredPoint> measured();
  TrialModel trial_model(const TrialConfiguration& configuration);

  const TrialSubject& subject_;
  const LayerCosts& costs_;
  const AllocationRequest& request_;
  Context& context_;
  TrialSpace space_;
  TrialCache cache_;
  std::unique_ptr<StudyStorage> storage_;
  Study study_;
  std::optional<std::pair<Allocation, TrialModel>> best_made_;
};

}  // namespace hone
