#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// Options of AdamW, with the defaults of Hugging Face's Trainer.
struct AdamWOptions {
  double learning_rate = 5e-5;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< not applied to biases and layer norms
  double max_grad_norm =
      1.0;  ///< maximum norm of the gradient of all parameters together; 0: no limit
  /// Factors of the learning rate, by parameter name; 1 for all others.
  std::map<std::string, double, std::less<>> rate_factors = {};
  /// Names of masked weights that movement pruning scores (hone/train/training_graph.h).
  std::set<std::string, std::less<>> scored = {};
};

/// A learning rate schedule, with the name of the Trainer's `lr_scheduler_type`.
struct Schedule {
  std::string_view name;
  bool warms_up;  ///< whether it uses `warmup_steps`
  /// Returns the learning rate of optimizer step `step` (from 0) of `steps`.
  double (*rate)(double learning_rate, std::int64_t step, std::int64_t steps,
                 std::int64_t warmup_steps);
  std::string_view summary;
};

std::span<const Schedule> schedules();
std::vector<std::string> schedule_names();
/// Throws `UserError` for an unknown name, and suggests the nearest.
const Schedule& find_schedule(std::string_view name);

/// Rises linearly over `warmup_steps`, then decays linearly to 0 at the end: learning_rate (steps - step) / (steps -
/// warmup_steps).
double linear_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps);
/// Rises likewise, then follows half a cosine down to 0: learning_rate (1 + cos(pi (step - warmup_steps) / (steps -
/// warmup_steps))) / 2.
double cosine_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps);
/// Rises likewise, then stays at `learning_rate`; without warm-up this is `constant`.
double constant_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                         std::int64_t warmup_steps);

}  // namespace hone
