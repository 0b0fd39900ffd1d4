#pragma once

#include <string>
#include <vector>

namespace hone {

/// A lab that is a pipeline, as any user could write it (docs/guides/pipelines.md).
struct ShippedPipeline {
  std::string name;   ///< "1.1"
  std::string title;  ///< what it finds out
  std::string costs;  ///< what it takes, a sentence
  std::string text;   ///< TOML
};

/// All of them, in the order of their names. Their texts are the files of hone/labs/pipelines, chained ones behind their parts.
const std::vector<ShippedPipeline>& shipped_pipelines();

/// The one with the name; null where there is none.
const ShippedPipeline* find_shipped_pipeline(const std::string& name);

}  // namespace hone
