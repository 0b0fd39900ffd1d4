#pragma once

#include <memory>

#include "hone/jobs/allocation/allocation_problem.h"
#include "hone/jobs/search/search_trial.h"
#include "hone/jobs/search/trial_cache.h"
#include "hone/search/search.h"
#include "hone/study/layer_sensitivity.h"

/// Allocations made and measured, each a trial of a study as a search over the formats of each layer has them.
namespace hone {

/// Why an allocation is measured.
enum class PointKind : std::uint8_t {
  front,  ///< a point of the exact front
  swap,   ///< one layer takes more bits than in the best of these, another fewer
};
std::span<const EnumWord> enum_words(PointKind);
inline std::string_view to_string(PointKind kind) { return word_of(kind); }

/// What is to be measured.
struct WantedPoint {
  PointKind kind = PointKind::front;
  Allocation allocation;
  double predicted = 0;  ///< the sum of what each layer does alone
};

/// What was.
struct MeasuredPoint {
  std::int64_t trial = 0;  ///< its number
  PointKind kind = PointKind::front;
  Allocation allocation;
  double predicted = 0;
  Divergence divergence = {};  ///< on the part that choices are made on
  double figure = 0;           ///< by which the task is judged, there
  Interval figure_interval = {};
  double average_bits = 0;
  std::int64_t packed_bytes = 0;
  double latency_ms = 0;  ///< as layers add up; 0: no budget is of it
};

/// The search in which each linear takes one of the options, those that a glob names the same one, for the least divergence within the
/// budgets: parameters are "LAYER.format", "LAYER.sparsity" and "LAYER.structure", or "GLOB.format".
SearchRecipe allocation_space(const AllocationRequest& request,
                              const std::vector<std::string>& layers, const FormatTable& formats);

/// Measures allocations in a study of two objectives, divergence and the figure of the first budget; budgets are constraints. What a
/// study has measured already is not measured again.
class AllocationTrials {
 public:
  /// All that it refers to must outlive it. Opens the study in this file, or makes it; `recipe` is that of `allocation_space`, `cache` a store
  /// of trials, or empty.
  AllocationTrials(const TrialSubject& subject, const LayerCosts& costs,
                   const AllocationRequest& request, SearchRecipe recipe, const fs::path& file,
                   const fs::path& cache, Context& context);

  /// What was remembered under this key; null: nothing.
  Json remembered(const std::string& key);
  void remember(const std::string& key, const Json& value);
  /// What the study remembers, else what the store of trials has of it, else found now; remembered and kept.
  Json found(const std::string& key, const Json& of, const std::function<Json()>& find);
  /// How many whole models came from the store of trials.
  std::int64_t from_store();
  /// The recipe of a search that begins with the points of the front that were measured.
  std::string search_recipe();

  /// All that have been measured by then, those that failed left out, by number. Throws `Interrupted`, and `UserError` when
  /// none could be measured, saying why the first could not.
  std::vector<MeasuredPoint> measure(const std::vector<WantedPoint>& wanted);

  /// The model of an allocation: the best within the budgets of those that were made here, else made again to the same bits.
  TrialModel model_of(const Allocation& allocation);
  void close() { storage_->close(); }

 private:
  std::string name_of(const std::string& layer) const;
  Json meant_values(const Allocation& allocation) const;
  Json values_of(const Allocation& allocation) const;
  Allocation allocation_of(const Assignment& values) const;
  void enqueue(const std::vector<WantedPoint>& wanted);
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
