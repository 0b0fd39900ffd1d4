#pragma once

#include <vector>

#include "hone/onnx/onnx_model.h"

namespace hone {

/// Returns the path of the second file for large weights.
fs::path data_file_of(const fs::path& path);

struct OnnxFileOptions {
  /// A larger file stores its weights in a second one (`data_file_of`), because no program reads protobuf messages
  /// above 2 GiB.
  std::uint64_t largest_file = (std::uint64_t{1} << 31) - (1 << 20);
};

/// Writes the model as `path`, with its weights in a second file if they do not fit. Each file is written completely or
/// not at all. Holds at most one constant in memory at a time. Returns the written files with their sizes. Throws
/// `UserError` if a file cannot be written.
std::vector<std::pair<fs::path, std::uint64_t>> write_onnx(const OnnxModel& model,
                                                           const fs::path& path,
                                                           const OnnxFileOptions& options = {});

}  // namespace hone
