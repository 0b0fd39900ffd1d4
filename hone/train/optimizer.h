#pragma once

#include <cstdint>
#include <string>

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
};

/// The learning rate of optimizer step `step` (from 0) of `steps`: a linear rise over `warmup_steps`, then linear decay
/// to 0 at the end: learning_rate (steps - step) / (steps - warmup_steps).
double linear_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps);

}  // namespace hone
