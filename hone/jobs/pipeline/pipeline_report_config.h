#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// Reads the contents of a pipeline's report: figures, tables, pictures, published numbers, claims and sentences.
namespace hone {

/// Reads them after the stages. Throws `UserError` with file and line for unknown keys, stages and variables.
void read_report_config(const toml::table& file, const TomlPlace& place, Pipeline& pipeline);

/// Updates the indices of stages. `moved` contains the new index of each stage, or none if it was left out; that is an
/// error if something refers to this single stage. `names` are the names of the stages, for errors.
void remap_stages(Pipeline& pipeline, const std::vector<std::optional<std::size_t>>& moved,
                  const std::vector<std::string>& names);

}  // namespace hone
