#pragma once

#include <vector>

#include "hone/onnx/onnx_model.h"

namespace hone {

/// The file beside `path` that large weights are stored in.
fs::path data_file_of(const fs::path& path);

struct OnnxFileOptions {
  /// A file with more bytes than this keeps its weights in a second one (`data_file_of`), because no program reads a message of
  /// protobuf above 2 GiB.
  std::uint64_t largest_file = (std::uint64_t{1} << 31) - (1 << 20);
};

/// Writes the model as `path`, and its weights beside it where they have no room there. Each file appears whole or not at
/// all. Holds no more than one constant at a time. Returns the files that were written, with their sizes. Throws `UserError`
/// when a file cannot be written.
std::vector<std::pair<fs::path, std::uint64_t>> write_onnx(const OnnxModel& model,
                                                           const fs::path& path,
                                                           const OnnxFileOptions& options = {});

}  // namespace hone
