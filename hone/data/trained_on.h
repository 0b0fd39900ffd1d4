#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/data/row_hash.h"
#include "hone/tensor/tensor.h"

/// A model's training record: fingerprints of its examples, in trained_on.safetensors beside the weights. Later
/// commands use it to find the examples that were set aside, regardless of their order and seed, and to count the
/// examples of other data that are not new to the model.
namespace hone {

/// A set of row fingerprints (hone/data/row_hash.h), sorted without duplicates. Sets read from a file stay
/// memory-mapped.
class RowSet {
 public:
  RowSet() = default;
  RowSet(std::initializer_list<std::uint64_t> rising);
  /// Takes a list of i64 with the bits of ascending fingerprints, as the record stores them.
  explicit RowSet(Tensor rising) : hashes_(std::move(rising)) {}

  const std::uint64_t* begin() const;
  const std::uint64_t* end() const { return begin() + size(); }
  std::size_t size() const {
    return hashes_.defined() ? static_cast<std::size_t>(hashes_.count()) : 0;
  }
  bool empty() const { return size() == 0; }
  const Tensor& tensor() const { return hashes_; }
  bool operator==(const RowSet& other) const;

 private:
  Tensor hashes_;  // undefined: empty
};

/// Returns the set of the hashes in a list.
RowSet row_set(std::vector<std::uint64_t> hashes);
/// Returns the union of two sets.
RowSet united(const RowSet& a, const RowSet& b);
bool contains(const RowSet& set, std::uint64_t hash);

struct TrainedOn {
  RowSet trained = {};     ///< the model was trained on these
  RowSet chosen = {};      ///< set aside by training for choices
  RowSet calibrated = {};  ///< quantizers were calibrated on these
  /// False: the initial weights came without such a record, and may have learned from more.
  bool complete = true;
  /// The head is randomly initialized: the weights came without one, and no training followed.
  bool untrained_head = false;
  NamedColumns columns = {};           ///< columns read by the last training on a table
  std::vector<std::string> data = {};  ///< `DataSet::hash` of each dataset, in order of use

  bool operator==(const TrainedOn&) const = default;

  /// Returns whether the record tells which texts the model was trained on.
  bool known() const { return complete || !trained.empty(); }
  /// Returns whether all weights are randomly initialized.
  bool nothing() const { return complete && trained.empty(); }
  /// Returns whether all weights or the head are randomly initialized, so that metrics are at chance level.
  bool untrained() const { return nothing() || untrained_head; }
};

/// Returns the record after training on `trained`, with `set_aside` for choices. `data` is the dataset's hash; `before`
/// is empty for a model without a record.
TrainedOn after_training(const std::optional<TrainedOn>& before, const std::string& data,
                         std::vector<std::uint64_t> trained, std::vector<std::uint64_t> set_aside);
/// Returns the record after calibration.
TrainedOn after_calibration(const std::optional<TrainedOn>& before, const std::string& data,
                            std::vector<std::uint64_t> calibrated);

/// Stores the columns that training read; data that is not a table has none.
void remember_columns(TrainedOn& record, const NamedColumns& columns);

/// Returns the record without fingerprints: only whether the model is untrained, and its columns. Returns nothing if
/// neither needs recording.
std::optional<TrainedOn> without_rows(const std::optional<TrainedOn>& record);

/// Returns a clause, which does not begin with `name`, that the training data of the model called `name` is unknown; ""
/// if it is known.
std::string unknown_texts(const std::string& name, const std::optional<TrainedOn>& record);

/// Returns the union of two records; the head is untrained if either is.
std::optional<TrainedOn> united(const std::optional<TrainedOn>& a,
                                const std::optional<TrainedOn>& b);

/// Returns whether these texts are the model's training data, possibly changed: they contain at least half of it, or it
/// contains at least half of them.
bool is_training_data(std::span<const std::uint64_t> hashes, const TrainedOn& record);

inline constexpr const char* kTrainedOnFile = "trained_on.safetensors";

/// Returns a sentence why an existing training record is not trusted: record.json, which proves that the folder is
/// unchanged, is damaged. Returns "" if it is trusted or does not exist.
std::string distrust_reason(const fs::path& folder);

/// Reads the record in a model folder. Returns nothing if there is none, its fingerprints have an older version, or it
/// is not trusted. Throws `UserError` with the path for a file that is damaged or written by a newer program.
std::optional<TrainedOn> read_trained_on(const fs::path& folder);

/// Writes the record, if any, into an existing folder.
void write_trained_on(const std::optional<TrainedOn>& record, const fs::path& folder);

}  // namespace hone
