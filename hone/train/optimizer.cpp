#include "hone/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

double rising(double learning_rate, std::int64_t step, std::int64_t warmup_steps) {
  return learning_rate * static_cast<double>(step) / static_cast<double>(warmup_steps);
}

double decay_steps(std::int64_t steps, std::int64_t warmup_steps) {
  return static_cast<double>(std::max<std::int64_t>(1, steps - warmup_steps));
}

}  // namespace

double linear_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps) {
  if (step < warmup_steps) return rising(learning_rate, step, warmup_steps);
  const double left = static_cast<double>(std::max<std::int64_t>(0, steps - step));
  return learning_rate * left / decay_steps(steps, warmup_steps);
}

double cosine_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps) {
  if (step < warmup_steps) return rising(learning_rate, step, warmup_steps);
  const double done = static_cast<double>(step - warmup_steps) / decay_steps(steps, warmup_steps);
  return learning_rate * std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * done)));
}

double constant_schedule(double learning_rate, std::int64_t step, std::int64_t,
                         std::int64_t warmup_steps) {
  return step < warmup_steps ? rising(learning_rate, step, warmup_steps) : learning_rate;
}

std::span<const Schedule> schedules() {
  static constexpr Schedule kRows[] = {
      {"linear", true, linear_schedule, "falls linearly to 0"},
      {"cosine", true, cosine_schedule, "falls to 0 along half a cosine period"},
      {"constant", false, constant_schedule, "stays"},
      {"constant_with_warmup", true, constant_schedule, "is constant after the warm-up"},
  };
  return kRows;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const Schedule& row : schedules()) names.emplace_back(row.name);
  return names;
}

const Schedule& find_schedule(std::string_view name) {
  for (const Schedule& row : schedules())
    if (row.name == name) return row;
  const std::vector<std::string> known = schedule_names();
  fail("`lr_scheduler_type`: expected {}, got '{}'{}", fmt::join(known, ", "), name,
       did_you_mean(name, known));
}

}  // namespace hone
