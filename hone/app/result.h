#pragma once

#include <string_view>

#include "hone/app/data_facts.h"
#include "hone/base/json.h"

/// Results as programs read them. Every one of them, printed or in a file, begins with the version of the schema it
/// follows (docs/output.md) and the command it comes from.
namespace hone {

/// Rises when a key changes its meaning, its type or goes away; new keys leave it as it is.
inline constexpr int kSchemaVersion = 1;

/// `schema_version` and `command`, and the keys of `fields` behind them.
Json result_of(std::string_view command, const Json& fields);

/// What a result is about: `model`, `data`, and of the part that was measured its name, `part`, its rows, `n`, and what
/// is known of them; of a part without rows nothing.
Json subject_of(const std::string& model, const DataIdentity& data, const MeasuredPart& part);

/// Writes it as `folder`/results.json. Throws `UserError`.
void write_results(std::string_view command, const Json& fields, const fs::path& folder);

}  // namespace hone
