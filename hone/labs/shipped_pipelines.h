#pragma once

#include <string>
#include <vector>

namespace hone {

/// A lab that is a pipeline, as any user could write it (docs/guides/pipelines.md).
struct ShippedPipeline {
  std::string name;   ///< "1.1"
  std::string title;  ///< what it investigates
  std::string costs;  ///< its cost, as a sentence
  std::string text;   ///< TOML
};

/// Returns all of them in the order of their names. Their texts are the files of hone/labs/pipelines, chained pipelines
/// after their parts.
const std::vector<ShippedPipeline>& shipped_pipelines();

/// Returns the one with this name; null if there is none.
const ShippedPipeline* find_shipped_pipeline(const std::string& name);

}  // namespace hone
