#include "hone/ir/role.h"

#include <string>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

std::span<const ParameterRoleInfo> parameter_roles() {
  static constexpr ParameterRoleInfo kRows[] = {
      // role, name, counted, decayed, saved
      {ParameterRole::weight, "weight", true, true, true},
      {ParameterRole::gain, "gain", true, false, true},
      {ParameterRole::bias, "bias", true, false, true},
      {ParameterRole::mask, "mask", false, false, true},
      {ParameterRole::adapter, "adapter", true, true, true},
      {ParameterRole::format_state, "format_state", false, false, true},
      {ParameterRole::codes, "codes", false, false, true},
      {ParameterRole::moment, "moment", false, false, false},
      {ParameterRole::buffer, "buffer", false, false, true},
  };
  return kRows;
}

const ParameterRoleInfo& info(ParameterRole role) {
  return parameter_roles()[static_cast<std::size_t>(role)];
}

ParameterRole parse_parameter_role(std::string_view name) {
  std::vector<std::string> known;
  for (const ParameterRoleInfo& row : parameter_roles()) {
    if (row.name == name) return row.role;
    known.emplace_back(row.name);
  }
  fail("unknown role '{}' of a parameter; roles are {}{}", name, fmt::join(known, ", "),
       did_you_mean(name, known));
}

}  // namespace hone
