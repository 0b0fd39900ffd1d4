#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"

/// Cache of results, keyed by their inputs. One folder contains it:
///
///     KEY/record.json   every file of the entry with its fingerprint (folder_record.h), and its description
///     KEY/files/...     the files
///     KEY.partial       an entry that is being written, locked
///     limit.json        the size limit in bytes, if it was set
///
/// Entries appear complete and are checked before use: a damaged one counts as missing. Several processes may use a
/// store at once; none removes an entry that another one reads.
namespace hone {

/// Metadata of an entry.
struct StoreEntry {
  std::string key;
  Json about = nullptr;  ///< description given to `put`
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  fs::file_time_type used = {};  ///< last use
};

/// The result of removing entries.
struct StoreRemoval {
  std::size_t entries = 0;
  std::uintmax_t bytes = 0;
  std::vector<std::string> kept =
      {};  ///< a sentence for each entry that stays: in use, or with files of others
};

class Store {
 public:
  static constexpr std::uintmax_t kDefaultLimit = std::uintmax_t{10} << 30;

  /// Does not access the folder yet.
  explicit Store(fs::path folder) : folder_(std::move(folder)) {}
  const fs::path& folder() const { return folder_; }

  /// Copies the files of an entry into the new folder `to`, and returns its description. Returns nothing if the entry
  /// is missing or damaged; `to` is not created then. Throws `UserError` if `to` cannot be written.
  std::optional<Json> take(const std::string& key, const fs::path& to);

  /// Returns the description of an entry, or nothing if it is missing. Marks it as used. The files are not checked, so
  /// they may be damaged.
  std::optional<Json> about(const std::string& key) const;

  /// Copies `files`, paths relative to `from`, into an entry, unless an intact one with this key exists or another
  /// process is writing it. Then removes the least recently used entries until the limit is met; for entries without
  /// files, only occasionally. Returns false if the files alone exceed the limit. Throws `UserError`.
  bool put(const std::string& key, const fs::path& from, const std::vector<fs::path>& files,
           const Json& about);

  /// Returns all entries, the most recently used first.
  std::vector<StoreEntry> entries() const;

  std::uintmax_t limit() const;
  /// Sets the limit. Throws `UserError`.
  void set_limit(std::uintmax_t bytes);

  /// Removes the least recently used entries until at most `bytes` are left, and unfinished entries of killed
  /// processes. Removes only files listed in the store's records.
  StoreRemoval shrink_to(std::uintmax_t bytes);

 private:
  fs::path folder_;
};

}  // namespace hone
