#pragma once

#include <set>
#include <string>
#include <vector>

#include "hone/base/json.h"

namespace hone::testing {

/// What is wrong with `value` by a JSON Schema, a line each with the place in front; none: it is valid. Knows of draft
/// 2020-12 what the project's schemas use: type, enum, const, anyOf, properties, required, additionalProperties, items,
/// minItems, maxItems, minimum, maximum, $ref to $defs. A keyword it does not know is a complaint too.
std::vector<std::string> schema_problems(const Json& value, const Json& schema);

/// The keys that objects of a schema may have, each behind the form (its title) or the fragment it belongs to:
/// "of one seed/steps", "measurement/eval_loss".
std::set<std::string> schema_keys(const Json& schema);

/// Those of them that `value`, which is valid, has.
std::set<std::string> keys_in(const Json& value, const Json& schema);

}  // namespace hone::testing
