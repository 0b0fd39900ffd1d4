#pragma once

#include <set>
#include <string>
#include <vector>

#include "hone/base/json.h"

namespace hone::testing {

/// Returns the violations of a JSON Schema by `value`, one line each that begins with the location, or nothing if it is
/// valid. Supports what the project's schemas use of draft 2020-12: type, enum, const, anyOf, properties, required,
/// additionalProperties, items, minItems, maxItems, minimum, maximum, $ref to $defs. Reports other keywords as
/// problems.
std::vector<std::string> schema_problems(const Json& value, const Json& schema);

/// Returns the keys that objects of a schema may have. The title of the form, or the name of the fragment, comes first:
/// "of one seed/steps", "measurement/eval_loss".
std::set<std::string> schema_keys(const Json& schema);

/// Returns those of these keys that occur in the valid `value`.
std::set<std::string> keys_in(const Json& value, const Json& schema);

}  // namespace hone::testing
