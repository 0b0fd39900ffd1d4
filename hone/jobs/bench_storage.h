#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hone/base/json.h"
#include "hone/report/text_layout.h"

/// How many trials a second a storage of studies takes, and whether several workers share them out rightly.
namespace hone {

struct StorageBenchJob {
  std::string storage;         ///< as `open_storage` takes it
  std::int64_t workers = 4;    ///< processes that run trials at once
  std::int64_t trials = 1000;  ///< of all workers together, of either kind
  std::string join = {};  ///< the study that this process is a worker of; "": it starts workers
};

struct StorageBenchResult {
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Has workers, each a process of this program, run trials of three parameters that cost nothing: first trials that they make,
/// then as many that wait in a queue. A trial is read up to, claimed or made, written to and finished, as a search does. Its studies are
/// deleted in the end, and so is the file if it was not there before. With `join` it is such a worker. Throws `UserError`.
StorageBenchResult bench_storage(const StorageBenchJob& job);

}  // namespace hone
