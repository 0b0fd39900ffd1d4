#include "hone/search/storage/sql_storage.h"

#include <algorithm>
#include <mutex>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/search/storage/stored_trials.h"
#include "hone/search/storage/tables.h"

namespace hone {
namespace {

using TrialPointer = std::shared_ptr<const Trial>;

// If a study's direction was never set, Optuna minimizes.
Direction direction_of(std::string_view name) {
  return name == "MAXIMIZE" ? Direction::maximize : Direction::minimize;
}
std::string name_of(Direction direction) {
  return direction == Direction::maximize ? "MAXIMIZE" : "MINIMIZE";
}

const char* study_table(AttributeOwner owner) {
  return owner == AttributeOwner::user ? "study_user_attributes" : "study_system_attributes";
}

std::string list_of(const std::vector<std::int64_t>& ids) {
  return fmt::format("({})", fmt::join(ids, ","));
}

// Returns the position of a trial, or its insertion point, in a list ordered by number and thus by id.
std::vector<TrialPointer>::iterator place_of(std::vector<TrialPointer>& trials, std::int64_t id) {
  return std::lower_bound(trials.begin(), trials.end(), id,
                          [](const TrialPointer& trial, std::int64_t i) { return trial->id < i; });
}

class SqlStorage final : public StudyStorage {
 public:
  explicit SqlStorage(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Study create_study(const std::string& name, const std::vector<Direction>& directions,
                     const StudyStart& start) override {
    check_stored_name("study", name);
    HONE_ASSERT(!directions.empty(), "a study without a direction");
    Study study{-1, name, directions, start.user_attributes, start.system_attributes};
    study.user_attributes.emplace("writer", writer_name());
    std::vector<Trial> trials = start.trials;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].number = static_cast<std::int64_t>(i);
      complete_times(trials[i]);
    }
    transact(
        SqlAccess::write,
        [&] {
          study.id = -1;
          run("INSERT INTO studies (study_name) VALUES ($1) ON CONFLICT (study_name) DO NOTHING "
              "RETURNING study_id",
              {name}, [&](const SqlRow& row) { study.id = row.integer(0); });
          user_check(study.id >= 0,
                     "{}: a study '{}' exists already; use another name, or continue it",
                     database_->name(), shown_name(name));
          for (std::size_t i = 0; i < directions.size(); ++i)
            run("INSERT INTO study_directions (direction, study_id, objective) VALUES ($1, $2, $3)",
                {name_of(directions[i]), study.id, static_cast<std::int64_t>(i)});
          write_study_attributes(study.id, AttributeOwner::user, study.user_attributes);
          write_study_attributes(study.id, AttributeOwner::system, study.system_attributes);
          for (Trial& trial : trials) write_new_trial(study.id, trial);
        },
        [&] {
          return finds("SELECT 1 FROM studies WHERE study_id = $1 AND study_name = $2",
                       {study.id, name});
        });
    return study;
  }

  std::optional<Study> find_study(const std::string& name) override {
    std::vector<Study> found = studies_where("study_name = $1", {name});
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }

  std::vector<Study> studies() override { return studies_where("1 = 1", {}); }

  void delete_study(std::int64_t study) override {
    transact(
        SqlAccess::write,
        [&] {
          require_study(study);
          for (const char* table :
               {"trial_user_attributes", "trial_system_attributes", "trial_params", "trial_values",
                "trial_intermediate_values", "trial_heartbeats"})
            run(fmt::format("DELETE FROM {} WHERE trial_id IN (SELECT trial_id FROM trials WHERE "
                            "study_id = $1)",
                            table),
                {study});
          for (const char* table : {"trials", "study_directions", "study_user_attributes",
                                    "study_system_attributes", "studies"})
            run(fmt::format("DELETE FROM {} WHERE study_id = $1", table), {study});
        },
        [&] { return !finds("SELECT 1 FROM studies WHERE study_id = $1", {study}); });
  }

  void set_study_attribute(std::int64_t study, AttributeOwner owner, const std::string& key,
                           const Json& value) override {
    transact(SqlAccess::write, [&] {
      require_study(study);
      write_study_attributes(study, owner, {{key, value}});
    });
  }

  Trial create_trial(std::int64_t study, Trial trial) override {
    trial.number = -1;
    return *insert_trial(study, std::move(trial));
  }

  std::optional<Trial> create_numbered_trial(std::int64_t study, Trial trial) override {
    HONE_ASSERT(trial.number >= 0, "a numbered trial without a number");
    return insert_trial(study, std::move(trial));
  }

  std::optional<Trial> claim_waiting(std::int64_t study,
                                     const std::map<std::string, Json>& user_attributes) override {
    if (!waits(study)) return std::nullopt;
    const std::string claim = fmt::format(
        "UPDATE trials SET state = 'RUNNING', datetime_start = $1 WHERE trial_id = (SELECT "
        "trial_id "
        "FROM trials WHERE study_id = $2 AND state = 'WAITING' AND trial_id > $3 ORDER BY trial_id "
        "LIMIT 1{}) "
        "AND state = 'WAITING' RETURNING trial_id",
        database_->dialect().lock_free_row);
    const std::string now = utc_now();
    std::vector<Trial> claimed;
    transact(
        SqlAccess::write,
        [&] {
          claimed.clear();
          std::int64_t id = -1;
          run(claim, {now, study, none_waiting_up_to_[study]},
              [&](const SqlRow& row) { id = row.integer(0); });
          if (id < 0) return;
          write_change(*database_, id, {.user_attributes = user_attributes});
          claimed = read_stored_trials(*database_, fmt::format("t.trial_id = {}", id), known_);
        },
        [&] {
          return !claimed.empty() &&
                 finds("SELECT 1 FROM trials WHERE trial_id = $1 AND datetime_start = $2",
                       {claimed.front().id, now});
        });
    if (claimed.empty()) return std::nullopt;
    return std::move(claimed.front());
  }

  void write(std::int64_t trial, const TrialChange& change) override {
    transact(SqlAccess::write, [&] {
      TrialState state = TrialState::waiting;
      std::int64_t number = -1;
      find_trial(trial, state, number, database_->dialect().lock_row);
      if (state != TrialState::running) fail_finished(number, state);
      write_change(*database_, trial, change);
    });
  }

  void finish(std::int64_t trial, const TrialEnd& end) override {
    HONE_ASSERT(is_finished(end.state), "a trial does not end as {}", to_string(end.state));
    const std::string state(to_string(end.state)), now = utc_now();
    transact(
        SqlAccess::write,
        [&] {
          bool ended = false;
          run("UPDATE trials SET state = $1, datetime_complete = $2 WHERE trial_id = $3 AND state "
              "= "
              "'RUNNING' RETURNING trial_id",
              {state, now, trial}, [&](const SqlRow&) { ended = true; });
          if (!ended) {
            TrialState ended_as = TrialState::waiting;
            std::int64_t number = -1;
            find_trial(trial, ended_as, number, "");
            fail_finished(number, ended_as);
          }
          write_values(*database_, trial, end.values);
          write_change(*database_, trial, end.change);
        },
        [&] {
          return finds(
              "SELECT 1 FROM trials WHERE trial_id = $1 AND state = $2 AND datetime_complete = $3",
              {trial, state, now});
        });
  }

  void record_heartbeat(std::int64_t trial) override {
    transact(SqlAccess::write, [&] {
      run("INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES ($1, CURRENT_TIMESTAMP) ON "
          "CONFLICT (trial_id) DO UPDATE SET heartbeat = CURRENT_TIMESTAMP",
          {trial});
    });
  }

  std::vector<LostTrial> stale_trials(std::int64_t study, double grace_seconds) override {
    std::vector<LostTrial> silent;
    transact(SqlAccess::read, [&] {
      silent.clear();
      run(fmt::format("SELECT t.trial_id, t.number, {} FROM trials t JOIN trial_heartbeats h ON "
                      "h.trial_id = t.trial_id "
                      "WHERE t.study_id = $1 AND t.state = 'RUNNING' ORDER BY t.trial_id",
                      database_->dialect().heartbeat_age),
          {study}, [&](const SqlRow& row) {
            if (row.real(2) > grace_seconds) silent.push_back({row.integer(0), row.integer(1)});
          });
    });
    return silent;
  }

  void read_trials(std::int64_t study, std::vector<TrialPointer>& trials) override {
    const std::int64_t last = trials.empty() ? -1 : trials.back()->id;
    std::vector<Trial> fresh;
    transact(SqlAccess::read, [&] {
      const std::vector<std::int64_t> changed = may_have_changed(study, trials);
      const std::string more =
          changed.empty() ? "" : fmt::format(" OR t.trial_id IN {}", list_of(changed));
      fresh = read_stored_trials(
          *database_, fmt::format("t.study_id = {} AND (t.trial_id > {}{})", study, last, more),
          known_);
    });
    for (Trial& trial : fresh) {
      auto pointer = std::make_shared<const Trial>(std::move(trial));
      const auto place = place_of(trials, pointer->id);
      if (place != trials.end() && (*place)->id == pointer->id)
        *place = std::move(pointer);
      else
        trials.insert(place, std::move(pointer));
    }
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    database_->close();
  }

 private:
  // Inserts a trial with the next number. Returns nothing if it requests another number.
  std::optional<Trial> insert_trial(std::int64_t study, Trial trial) {
    const std::int64_t wanted = trial.number;
    complete_times(trial);
    bool made = false;
    transact(
        SqlAccess::write,
        [&] {
          require_study(study);
          trial.number = 0;
          // Numbers are assigned on insertion, so the last trial has the highest number.
          run("SELECT number FROM trials WHERE study_id = $1 ORDER BY trial_id DESC LIMIT 1",
              {study}, [&](const SqlRow& row) { trial.number = row.integer(0) + 1; });
          made = wanted < 0 || trial.number == wanted;
          if (made) write_new_trial(study, trial);
        },
        [&] { return made && is_there(study, trial); });
    if (!made) return std::nullopt;
    return trial;
  }
  static void complete_times(Trial& trial) {
    if (trial.state != TrialState::waiting && trial.start.empty()) trial.start = utc_now();
    if (is_finished(trial.state) && trial.end.empty()) trial.end = utc_now();
  }
  // Inserts a trial with its number, and sets its id.
  void write_new_trial(std::int64_t study, Trial& trial) {
    run("INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete) "
        "VALUES ($1, $2, $3, $4, $5) RETURNING trial_id",
        {trial.number, study, std::string(to_string(trial.state)), or_null(trial.start),
         or_null(trial.end)},
        [&](const SqlRow& row) { trial.id = row.integer(0); });
    write_values(*database_, trial.id, trial.values);
    write_change(*database_, trial.id,
                 {trial.parameters, trial.reports, trial.user_attributes, trial.system_attributes});
  }
  void write_study_attributes(std::int64_t study, AttributeOwner owner,
                              const std::map<std::string, Json>& attributes) {
    write_attributes(*database_, study_table(owner), "study_id", study, attributes);
  }

  void transact(SqlAccess access, const std::function<void()>& body,
                const std::function<bool()>& is_written = {}) {
    const std::lock_guard lock(mutex_);
    database_->transact(access, body, is_written);
  }
  bool finds(const std::string& sql, const std::vector<SqlValue>& values) {
    bool found = false;
    run(sql, values, [&](const SqlRow&) { found = true; });
    return found;
  }
  void run(const std::string& sql, const std::vector<SqlValue>& values = {},
           const std::function<void(const SqlRow&)>& visit = {}) {
    database_->run(sql, values, visit);
  }
  static SqlValue or_null(const std::string& time) {
    if (time.empty()) return nullptr;
    return time;
  }

  // Returns whether an inserted trial is present, and not another program's trial in its place. Trials that do not
  // wait are identified by their start time in microseconds, others by their system attributes.
  bool is_there(std::int64_t study, const Trial& trial) {
    const std::vector<Trial> found = read_stored_trials(
        *database_, fmt::format("t.trial_id = {} AND t.study_id = {}", trial.id, study), known_);
    if (found.empty() || found.front().number != trial.number) return false;
    if (!trial.start.empty()) return found.front().start == trial.start;
    const auto& there = found.front().system_attributes;
    return std::includes(there.begin(), there.end(), trial.system_attributes.begin(),
                         trial.system_attributes.end());
  }

  // Locks the study until the transaction ends, so that nobody else adds a trial.
  void require_study(std::int64_t study) {
    bool there = false;
    run("SELECT study_id FROM studies WHERE study_id = $1" + database_->dialect().lock_row, {study},
        [&](const SqlRow&) { there = true; });
    user_check(there, "{}: the study no longer exists: it was deleted", database_->name());
  }

  void find_trial(std::int64_t trial, TrialState& state, std::int64_t& number,
                  const std::string& lock) {
    bool there = false;
    run("SELECT state, number FROM trials WHERE trial_id = $1" + lock, {trial},
        [&](const SqlRow& row) {
          there = true;
          state = trial_state(row.text(0));
          number = row.integer(1);
        });
    user_check(there, "{}: the trial no longer exists: its study was deleted", database_->name());
  }
  [[noreturn]] void fail_finished(std::int64_t number, TrialState state) {
    throw FinishedTrialError(
        fmt::format("{}: trial {} is already {}: its worker was considered dead, or another "
                    "program ran it, too; nothing more is stored for it",
                    database_->name(), number, to_string(state)));
  }

  // Checks before locking, since usually nothing waits. Trials never become waiting again and new ones have higher
  // ids, so trials checked once are skipped later.
  bool waits(std::int64_t study) {
    bool found = false;
    const auto find = [&](const std::string& which, const std::vector<SqlValue>& values) {
      std::int64_t id = -1;
      run(fmt::format("SELECT trial_id FROM trials WHERE study_id = $1 {} LIMIT 1", which), values,
          [&](const SqlRow& row) { id = row.integer(0); });
      return id;
    };
    transact(SqlAccess::read, [&] {
      std::int64_t& none_up_to = none_waiting_up_to_.try_emplace(study, -1).first->second;
      const std::int64_t first =
          find("AND trial_id > $2 AND state = 'WAITING' ORDER BY trial_id", {study, none_up_to});
      found = first >= 0;
      none_up_to =
          found ? first - 1 : std::max(none_up_to, find("ORDER BY trial_id DESC", {study}));
    });
    return found;
  }

  // Returns the unfinished trials to read again: all except those that still wait. A queue is claimed in order, so
  // few trials between the first and the last waiting one have stopped waiting.
  std::vector<std::int64_t> may_have_changed(std::int64_t study,
                                             std::vector<TrialPointer>& trials) {
    std::vector<std::int64_t> changed;
    std::int64_t first = -1, last = -1;
    for (const TrialPointer& trial : trials) {
      if (trial->state == TrialState::running) changed.push_back(trial->id);
      if (trial->state != TrialState::waiting) continue;
      if (first < 0) first = trial->id;
      last = trial->id;
    }
    if (first < 0) return changed;
    run("SELECT trial_id FROM trials WHERE study_id = $1 AND trial_id BETWEEN $2 AND $3 AND state "
        "<> 'WAITING'",
        {study, first, last}, [&](const SqlRow& row) {
          const auto place = place_of(trials, row.integer(0));
          if (place != trials.end() && (*place)->state == TrialState::waiting)
            changed.push_back((*place)->id);
        });
    return changed;
  }

  std::vector<Study> studies_where(const std::string& condition,
                                   const std::vector<SqlValue>& values) {
    std::vector<Study> found;
    const auto owner = [&](std::int64_t id) -> Study* {
      const auto study =
          std::find_if(found.begin(), found.end(), [&](const Study& s) { return s.id == id; });
      return study == found.end() ? nullptr : &*study;
    };
    transact(SqlAccess::read, [&] {
      found.clear();
      run(fmt::format("SELECT study_id, study_name FROM studies WHERE {} ORDER BY study_id",
                      condition),
          values, [&](const SqlRow& row) {
            found.push_back({row.integer(0), std::string(row.text(1)), {}});
          });
      if (found.empty()) return;
      std::vector<std::int64_t> ids;
      for (const Study& study : found) ids.push_back(study.id);
      run(fmt::format("SELECT study_id, direction FROM study_directions WHERE study_id IN {} ORDER "
                      "BY study_id, objective",
                      list_of(ids)),
          {}, [&](const SqlRow& row) {
            if (Study* study = owner(row.integer(0)))
              study->directions.push_back(direction_of(row.text(1)));
          });
      for (const AttributeOwner kind : {AttributeOwner::user, AttributeOwner::system})
        read_attributes(
            *database_,
            fmt::format("SELECT study_id, \"key\", value_json FROM {} WHERE study_id IN {}",
                        study_table(kind), list_of(ids)),
            [&](std::int64_t id, std::string key, Json value) {
              if (Study* study = owner(id))
                (kind == AttributeOwner::user ? study->user_attributes
                                              : study->system_attributes)[std::move(key)] =
                    std::move(value);
            });
    });
    return found;
  }

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
  KnownDistributions known_;
  std::map<std::int64_t, std::int64_t> none_waiting_up_to_;  // up to this id, by study
};

}  // namespace

std::unique_ptr<StudyStorage> sql_storage(std::unique_ptr<Database> database) {
  return std::make_unique<SqlStorage>(std::move(database));
}

}  // namespace hone
