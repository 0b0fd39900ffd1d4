#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"

namespace hone {

/// Scalars over the steps of a run in a file that TensorBoard reads: records of the TFRecord format (length, bytes, and
/// a checksum of each), every one an `Event` protocol buffer. The first says which version of events follow.
///
///     EventFile events(folder / "events.out.tfevents.hone");
///     events.write(50, {{"train/loss", 0.41}, {"train/learning_rate", 2e-5}});
///
/// An event is on disk as soon as it is written, so that TensorBoard follows a run.
class EventFile {
 public:
  /// Begins anew with the first event that is written, in a folder that is made then.
  explicit EventFile(fs::path file) : file_(std::move(file)) {}

  /// Goes on in the file that an earlier run has left, after its first `count` events; what follows them is removed.
  /// Returns how many there are: fewer than `count` when the file is damaged or not there.
  std::size_t keep(std::size_t count);

  /// Adds an event. Throws `UserError` when the file cannot be written.
  void write(std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars);

 private:
  void append(std::string_view record);

  fs::path file_;
  bool begun_ = false;
};

/// CRC-32C (Castagnoli), the checksum of TFRecords.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace hone
