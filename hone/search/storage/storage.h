#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/error.h"
#include "hone/search/trial.h"

/// Where studies live: tables as Optuna 3.2 to 5.0 writes them (schema 12, alembic v3.2.0.a), in an SQLite file or a PostgreSQL database, so
/// that its programs read and write them beside ours. Times are UTC. Every call is one transaction: it happens whole or not at
/// all, and several processes may call at once; so may the threads of one on one storage, which take turns.
namespace hone {

enum class AttributeOwner : std::uint8_t { user, system };

struct Study {
  std::int64_t id = -1;
  std::string name;
  std::vector<Direction> directions;
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
};

/// What a new study has from the moment that others see it.
struct StudyStart {
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
  std::vector<Trial> trials = {};  ///< numbered in this order; else as `create_trial` adds them
};

/// What is written to a trial that runs.
struct TrialChange {
  std::vector<TrialParameter> parameters = {};  ///< one that is there already stays as it is
  std::map<std::int64_t, double> reports = {};  ///< a step that has one keeps it
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
};

/// How a trial ends.
struct TrialEnd {
  TrialState state = TrialState::complete;
  std::vector<double> values = {};
  TrialChange change = {};  ///< written in the same transaction
};

/// A trial whose worker no longer lives, or has not been heard of.
struct LostTrial {
  std::int64_t id = -1;
  std::int64_t number = -1;
};

class StudyStorage {
 public:
  virtual ~StudyStorage() = default;

  /// Returns the new study. Throws `UserError` when a study of that name is there.
  virtual Study create_study(const std::string& name, const std::vector<Direction>& directions,
                             const StudyStart& start = {}) = 0;
  virtual std::optional<Study> find_study(const std::string& name) = 0;
  /// All, by id.
  virtual std::vector<Study> studies() = 0;
  virtual void delete_study(std::int64_t study) = 0;
  virtual void set_study_attribute(std::int64_t study, AttributeOwner owner, const std::string& key,
                                   const Json& value) = 0;

  /// Adds a trial as `trial` has it (state, parameters, values, reports, attributes) with the next number, and times of now where it
  /// has none and its state wants some. Returns it with id, number and times.
  virtual Trial create_trial(std::int64_t study, Trial trial) = 0;
  /// The same where that number is the one that `trial` names; where it is another one, nothing is added or returned: what was
  /// decided for a trial of that number, by the trials before it, holds for no other.
  virtual std::optional<Trial> create_numbered_trial(std::int64_t study, Trial trial) = 0;
  /// Makes the waiting trial of the lowest number a running one and returns it: to one caller alone. None waits: nothing. The attributes
  /// are written with it: who runs it is known from the first moment, so that a worker that dies in the next one is missed.
  virtual std::optional<Trial> claim_waiting(
      std::int64_t study, const std::map<std::string, Json>& user_attributes = {}) = 0;
  /// Writes to a running trial. Throws `FinishedTrialError` when it no longer runs.
  virtual void write(std::int64_t trial, const TrialChange& change) = 0;
  /// Ends a running trial. Throws `FinishedTrialError` when it no longer runs: somebody took its worker for dead.
  virtual void finish(std::int64_t trial, const TrialEnd& end) = 0;

  /// Says that the worker of a running trial lives.
  virtual void beat(std::int64_t trial) = 0;
  /// The running trials of the study whose last sign of life is older than `grace_seconds` by the storage's own clock. Those
  /// that have never given one are not among them.
  virtual std::vector<LostTrial> silent_trials(std::int64_t study, double grace_seconds) = 0;

  /// Brings `trials` (all of the study as they stood at the last call, by number; at first empty) up to now: what was finished is not
  /// read again, and finished ones keep their place in memory. One that still waits is not looked at again either.
  virtual void read_trials(std::int64_t study,
                           std::vector<std::shared_ptr<const Trial>>& trials) = 0;

  /// Ends the use of the storage. All that was written is in the file itself then, unless somebody else reads in it without end; it is left
  /// as one that any program reads (no WAL beside it) if nobody else has it open. The destructor does the same and throws nothing.
  virtual void close() = 0;
};

/// A write to a trial that is finished.
class FinishedTrialError : public UserError {
  using UserError::UserError;
};

/// The storage that `where` names: the path of an SQLite file, `sqlite:///PATH`, or `postgresql://…` as libpq reads it, without a
/// password: that is for a service file, PGPASSFILE or PGPASSWORD. A file is made where there is none, unless `must_exist`. Throws
/// `UserError`: a file that is no study (it is not written), of another version of the tables (naming it), a password in the address, a
/// server that is not there.
std::unique_ptr<StudyStorage> open_storage(const std::string& where, bool must_exist = false);

/// Throws `UserError` where what was written last to a storage that is closed stands beside its file alone, because another program reads in
/// it without end: a copy of the file would lack it. A server has no such file.
void check_is_whole(const std::string& where);

/// Whether a file lies on a file system that other machines see, where locks of SQLite are not to be relied on.
bool is_on_network_file_system(const fs::path& file);

/// Now, as a storage writes times: "2026-11-25 03:00:59.123456".
std::string utc_now();
/// So many seconds before now.
std::string utc_before(double seconds);

}  // namespace hone
