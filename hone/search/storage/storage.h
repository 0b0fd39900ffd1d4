#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/error.h"
#include "hone/search/trial.h"

/// Storage of studies: tables of Optuna 3.2 to 5.0 (schema 12, alembic v3.2.0.a), in an SQLite file or a PostgreSQL
/// database, so that Optuna's programs can read and write them, too. Times are UTC. Every call is one atomic
/// transaction. Several processes may call at once, and so may threads on one storage, which take turns.
namespace hone {

enum class AttributeOwner : std::uint8_t { user, system };

struct Study {
  std::int64_t id = -1;
  std::string name;
  std::vector<Direction> directions;
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
};

/// Contents of a new study, visible together with it.
struct StudyStart {
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
  std::vector<Trial> trials = {};  ///< numbered in this order; otherwise added as by `create_trial`
};

/// Additions to a running trial.
struct TrialChange {
  std::vector<TrialParameter> parameters = {};  ///< existing ones are not changed
  std::map<std::int64_t, double> reports = {};  ///< existing ones are not changed
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
};

struct TrialEnd {
  TrialState state = TrialState::complete;
  std::vector<double> values = {};
  TrialChange change = {};  ///< written in the same transaction
};

/// A trial whose worker died or stopped sending heartbeats.
struct LostTrial {
  std::int64_t id = -1;
  std::int64_t number = -1;
};

class StudyStorage {
 public:
  virtual ~StudyStorage() = default;

  /// Returns the new study. Throws `UserError` if a study with this name exists.
  virtual Study create_study(const std::string& name, const std::vector<Direction>& directions,
                             const StudyStart& start = {}) = 0;
  virtual std::optional<Study> find_study(const std::string& name) = 0;
  /// Returns all studies, by id.
  virtual std::vector<Study> studies() = 0;
  virtual void delete_study(std::int64_t study) = 0;
  virtual void set_study_attribute(std::int64_t study, AttributeOwner owner, const std::string& key,
                                   const Json& value) = 0;

  /// Adds a copy of `trial` (state, parameters, values, reports, attributes) with the next number; missing times that
  /// its state requires are set to now. Returns it with id, number and times.
  virtual Trial create_trial(std::int64_t study, Trial trial) = 0;
  /// Does the same if the next number is that of `trial`; otherwise adds and returns nothing, because decisions for a
  /// trial with that number depend on the trials before it.
  virtual std::optional<Trial> create_numbered_trial(std::int64_t study, Trial trial) = 0;
  /// Makes the waiting trial with the lowest number a running one and returns it, to one caller only; nothing if none
  /// waits. The attributes are written with it, so that the trial has a known worker from the start, even one that
  /// dies at once.
  virtual std::optional<Trial> claim_waiting(
      std::int64_t study, const std::map<std::string, Json>& user_attributes = {}) = 0;
  /// Writes to a running trial. Throws `FinishedTrialError` if it no longer runs.
  virtual void write(std::int64_t trial, const TrialChange& change) = 0;
  /// Ends a running trial. Throws `FinishedTrialError` if it no longer runs: another process considered its worker
  /// dead.
  virtual void finish(std::int64_t trial, const TrialEnd& end) = 0;

  /// Records a heartbeat of the worker of a running trial.
  virtual void record_heartbeat(std::int64_t trial) = 0;
  /// Returns the running trials of the study whose last heartbeat is older than `grace_seconds` by the storage's own
  /// clock; trials without heartbeats are not included.
  virtual std::vector<LostTrial> stale_trials(std::int64_t study, double grace_seconds) = 0;

  /// Updates `trials` (all trials of the study at the last call, by number; initially empty). Finished trials are not
  /// read again, and keep their address in memory. Trials that still wait are not read again either.
  virtual void read_trials(std::int64_t study,
                           std::vector<std::shared_ptr<const Trial>>& trials) = 0;

  /// Closes the storage. All data is then in the file itself, unless another program reads permanently. If nobody
  /// else has it open, it is a file that any program can read (without WAL). The destructor does the same and throws
  /// nothing.
  virtual void close() = 0;
};

/// Thrown by a write to a finished trial.
class FinishedTrialError : public UserError {
  using UserError::UserError;
};

/// Opens the storage at `where`: the path of an SQLite file, `sqlite:///PATH`, or `postgresql://…` in libpq's syntax,
/// without a password, which belongs in a service file, PGPASSFILE or PGPASSWORD. Creates a missing file, unless
/// `must_exist`. Throws `UserError` for a file that is no study (it is not changed), another version of the tables
/// (naming it), a password in the address, and an unreachable server.
std::unique_ptr<StudyStorage> open_storage(const std::string& where, bool must_exist = false);

/// Throws `UserError` if the latest data of a closed storage is only in the log next to its file, because another
/// program reads permanently: a copy of the file would lack it. Servers have no such file.
void check_is_whole(const std::string& where);

/// Returns whether a file is on a network file system, where SQLite's locks are unreliable.
bool is_on_network_file_system(const fs::path& file);

/// Returns the current time in the format of storages: "2026-11-25 03:00:59.123456".
std::string utc_now();
/// Returns the time `seconds` before now.
std::string utc_before(double seconds);

}  // namespace hone
