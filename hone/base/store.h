#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"

/// What finished work has left, found again by what it was made from. One folder holds it all:
///
///     KEY/record.json   every file of the entry with its fingerprint (folder_record.h), and what it is
///     KEY/files/...     the files
///     KEY.partial       an entry that is being written, locked
///     limit.json        the most bytes, where somebody has set them
///
/// Entries appear whole, and are checked before they are used: a damaged one counts as not there. Several processes may
/// work in a store at once; none removes an entry that another one reads.
namespace hone {

/// An entry, as lists of them show it.
struct StoreEntry {
  std::string key;
  Json about = nullptr;  ///< what was said of it when it was put there
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  fs::file_time_type used = {};  ///< last
};

/// What has become of entries.
struct StoreRemoval {
  std::size_t entries = 0;
  std::uintmax_t bytes = 0;
  std::vector<std::string> kept =
      {};  ///< a sentence for each that stays: in use, or with somebody else's files in it
};

class Store {
 public:
  static constexpr std::uintmax_t kUsualLimit = std::uintmax_t{10} << 30;

  /// Nothing is made or read yet.
  explicit Store(fs::path folder) : folder_(std::move(folder)) {}
  const fs::path& folder() const { return folder_; }

  /// Copies the files of an entry into `to`, which is made, and returns what was said of it. Nothing when there is none, or
  /// a damaged one, and `to` is not there then. Throws `UserError` when `to` cannot be written.
  std::optional<Json> take(const std::string& key, const fs::path& to);

  /// What was said of an entry; nothing when there is none. Its files are not looked at, so it may be damaged. It counts as used.
  std::optional<Json> about(const std::string& key) const;

  /// Copies `files`, paths in `from`, into an entry, unless a whole one of that key is there or another process is at it.
  /// Then the entries that were used longest ago go until the limit is kept; of entries without files after some of them alone. Returns
  /// false where the files alone are above it. Throws `UserError`.
  bool put(const std::string& key, const fs::path& from, const std::vector<fs::path>& files,
           const Json& about);

  /// All entries, the one used last first.
  std::vector<StoreEntry> entries() const;

  std::uintmax_t limit() const;
  /// Throws `UserError`.
  void set_limit(std::uintmax_t bytes);

  /// Removes those used longest ago until no more than `bytes` are left, and what killed processes had begun. Only files
  /// that a record of the store names go.
  StoreRemoval shrink_to(std::uintmax_t bytes);

 private:
  fs::path folder_;
};

}  // namespace hone
