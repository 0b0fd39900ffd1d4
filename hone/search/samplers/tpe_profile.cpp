#include "hone/search/samplers/tpe_profile.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
namespace {

struct ProfileRow {
  TpeProfile profile;
  std::string_view name;
  TpeRules rules;
};

// Rules missing from a row have the defaults of TpeRules.
const ProfileRow kProfiles[] = {
    {TpeProfile::optuna_5,
     "optuna-5",
     {.multivariate = true,
      .constant_liar = true,
      .prior_in_gaps = false,
      .scott = false,
      .weighted_front = false,
      .at_most_25 = false}},
    {TpeProfile::optuna_4_9, "optuna-4.9", {.prior_in_gaps = false}},
    {TpeProfile::optuna_4_6, "optuna-4.6", {.steps_of_logarithms = false}},
    {TpeProfile::optuna_3_1,
     "optuna-3.1",
     {.density_by_width = false,
      .steps_of_logarithms = false,
      .clipped_steps = true,
      .choices_first = false,
      .sorted_space = false}},
};

const ProfileRow& row_of(TpeProfile profile) {
  const auto found = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                                  [&](const ProfileRow& row) { return row.profile == profile; });
  HONE_ASSERT(found != std::end(kProfiles), "a profile without a row");
  return *found;
}

}  // namespace

const TpeRules& rules_of(TpeProfile profile) { return row_of(profile).rules; }

std::string_view to_string(TpeProfile profile) { return row_of(profile).name; }

std::vector<std::string> tpe_profile_names() {
  std::vector<std::string> names;
  for (const ProfileRow& row : kProfiles) names.emplace_back(row.name);
  return names;
}

TpeProfile find_tpe_profile(std::string_view name) {
  for (const ProfileRow& row : kProfiles)
    if (row.name == name) return row.profile;
  fail("no profile of TPE is called '{}'; there are {}", name,
       fmt::join(tpe_profile_names(), ", "));
}

}  // namespace hone
