#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/data/row_hash.h"
#include "hone/tensor/tensor.h"

/// What a model has learned from: fingerprints of its texts, in trained_on.safetensors beside its weights. So a later
/// command on the same data knows which texts were set aside, whatever their order and its own seed, and says of other
/// data how many of its texts are not new to the model.
namespace hone {

/// Fingerprints of rows (hone/data/row_hash.h), each once and rising. Those of a file stay where it is mapped.
class RowSet {
 public:
  RowSet() = default;
  RowSet(std::initializer_list<std::uint64_t> rising);
  /// A list of i64 with the bits of rising fingerprints, as the record stores them.
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
  Tensor hashes_;  // undefined: none
};

/// The set of the hashes in a list.
RowSet row_set(std::vector<std::uint64_t> hashes);
/// What is in one or the other.
RowSet united(const RowSet& a, const RowSet& b);
bool contains(const RowSet& set, std::uint64_t hash);

struct TrainedOn {
  RowSet trained = {};     ///< weights were fitted to these
  RowSet chosen = {};      ///< set aside by trainings, for choices to be made on
  RowSet calibrated = {};  ///< ranges of quantizers were taken from these
  /// False: the weights come from somewhere that kept no such record, and may have been fitted to more.
  bool complete = true;
  /// The head is as it was drawn: the weights came without one, and no training has followed.
  bool untrained_head = false;
  NamedColumns columns = {};           ///< that the last training on a table read
  std::vector<std::string> data = {};  ///< `DataSet::hash` of each data set, the first one first

  bool operator==(const TrainedOn&) const = default;

  /// Whether it can be said of a text that it was trained on.
  bool known() const { return complete || !trained.empty(); }
  /// The weights are as they were drawn: nothing was learned.
  bool nothing() const { return complete && trained.empty(); }
  /// All weights are as they were drawn, or those that tell the classes apart: figures are those of chance.
  bool untrained() const { return nothing() || untrained_head; }
};

/// The record after a training on the texts `trained` of a data set, with `set_aside` to choose on. `before` is none for
/// a model of which nothing is known.
TrainedOn after_training(const std::optional<TrainedOn>& before, const std::string& data,
                         std::vector<std::uint64_t> trained, std::vector<std::uint64_t> set_aside);
/// The record after a calibration.
TrainedOn after_calibration(const std::optional<TrainedOn>& before, const std::string& data,
                            std::vector<std::uint64_t> calibrated);

/// Keeps the columns that a training read; data that is not a table has none.
void remember_columns(TrainedOn& record, const NamedColumns& columns);

/// The record of a model that is to keep no fingerprints: that it is untrained and its columns, where there is something
/// to say; else none.
std::optional<TrainedOn> without_rows(const std::optional<TrainedOn>& record);

/// That it is not known of texts whether the model called `name`, of this record, was trained on them, a clause that does not begin with
/// its name; empty where it is.
std::string unknown_texts(const std::string& name, const std::optional<TrainedOn>& record);

/// What two models have seen between them; its head is untrained when one of theirs is.
std::optional<TrainedOn> united(const std::optional<TrainedOn>& a,
                                const std::optional<TrainedOn>& b);

/// Whether these texts are what was trained on, with or without changes: they hold at least half of it, or at least half
/// of them are it.
bool is_training_data(std::span<const std::uint64_t> hashes, const TrainedOn& record);

inline constexpr const char* kTrainedOnFile = "trained_on.safetensors";

/// Why a record that is there is not believed, in a sentence: record.json, by which the folder is known to be as it was
/// written, is damaged. Empty: it is, or there is none.
std::string disbelief(const fs::path& folder);

/// The record in a model folder; none when there is none, one whose fingerprints are of another kind, or one that is not
/// believed. Throws `UserError` with the path for a file that is damaged or of a newer program.
std::optional<TrainedOn> read_trained_on(const fs::path& folder);

/// Writes the record into an existing folder; nothing for none.
void write_trained_on(const std::optional<TrainedOn>& record, const fs::path& folder);

}  // namespace hone
