#include "hone/search/pruners/rungs.h"

#include <fmt/format.h>

namespace hone {

std::string rung_key(std::int64_t rung) { return fmt::format("completed_rung_{}", rung); }

std::optional<double> rung_value(const Trial& trial, std::int64_t rung) {
  const auto found = trial.system_attributes.find(rung_key(rung));
  if (found == trial.system_attributes.end() || !found->second.is_number()) return std::nullopt;
  return found->second.get<double>();
}

std::int64_t rungs_reached(const Trial& trial) {
  std::int64_t rung = 0;
  while (rung_value(trial, rung)) ++rung;
  return rung;
}

}  // namespace hone
