#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"

namespace hone {

/// Scalars over the steps of a run in a file for TensorBoard: TFRecord records (length, bytes, and a checksum of each),
/// each one an `Event` protocol buffer. The first contains the version of the events.
///
///     EventFile events(folder / "events.out.tfevents.hone");
///     events.write(50, {{"train/loss", 0.41}, {"train/learning_rate", 2e-5}});
///
/// Each event is on disk as soon as it is written, so that TensorBoard can follow a run.
class EventFile {
 public:
  /// Replaces the file when the first event is written, and creates its folder then.
  explicit EventFile(fs::path file) : file_(std::move(file)) {}

  /// Continues the file of an earlier run after its first `count` events, and removes the others. Returns how many it
  /// kept: fewer than `count` if the file is damaged or missing.
  std::size_t keep(std::size_t count);

  /// Adds an event. Throws `UserError` if the file cannot be written.
  void write(std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars);

 private:
  void append(std::string_view record);

  fs::path file_;
  bool begun_ = false;
};

/// Returns the CRC-32C (Castagnoli), the checksum of TFRecords.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace hone
