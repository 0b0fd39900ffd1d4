#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// AdamW as Hugging Face's Trainer sets it up. The defaults are the Trainer's.
struct AdamWOptions {
  double learning_rate = 5e-5;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< not applied to biases and layer norms
  double max_grad_norm =
      1.0;  ///< the gradient of all parameters together is scaled down to this norm; 0: never
  /// What the learning rate of a parameter is multiplied by, by its name; 1 for all others.
  std::map<std::string, double, std::less<>> rate_factors = {};
  /// Masked weights that movement pruning scores, by name (hone/train/training_graph.h); none otherwise.
  std::set<std::string, std::less<>> scored = {};
};

/// A way in which the learning rate changes over a run, called as the Trainer's `lr_scheduler_type`.
struct Schedule {
  std::string_view name;
  bool warms_up;  ///< whether `warmup_steps` mean anything
  /// The learning rate of optimizer step `step` (from 0) of `steps`.
  double (*rate)(double learning_rate, std::int64_t step, std::int64_t steps,
                 std::int64_t warmup_steps);
  std::string_view summary;
};

/// A row for each.
std::span<const Schedule> schedules();
std::vector<std::string> schedule_names();
/// Throws `UserError` for an unknown name, naming the nearest.
const Schedule& find_schedule(std::string_view name);

/// A linear rise over `warmup_steps`, then linear decay to 0 at the end: learning_rate (steps - step) / (steps -
/// warmup_steps).
double linear_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps);
/// The same rise, then half a cosine down to 0: learning_rate (1 + cos(pi (step - warmup_steps) / (steps -
/// warmup_steps))) / 2.
double cosine_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps);
/// The same rise, then `learning_rate` to the end; without warm-up `constant`.
double constant_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                         std::int64_t warmup_steps);

}  // namespace hone
