#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// What the report of a pipeline shows, as its file has it: figures, tables, pictures, published numbers, claims, and what it says.
namespace hone {

/// Reads all of it into the pipeline, whose stages are known. Throws `UserError` with file and line: unknown keys, stages and variables.
void read_shown(const toml::table& file, const TomlPlace& place, Pipeline& pipeline);

/// Lets all that is shown follow stages to their new places. `moved`: the place of each stage now; none: it is left out, which is an error
/// where a single stage is meant, whose name was in `names`.
void follow_stages(Pipeline& pipeline, const std::vector<std::optional<std::size_t>>& moved,
                   const std::vector<std::string>& names);

}  // namespace hone
