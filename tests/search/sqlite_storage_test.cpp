#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "hone/search/python_json.h"
#include "hone/search/storage/optuna_export.h"
#include "hone/search/storage/sqlite_database.h"
#include "hone/search/storage/storage.h"
#include "hone/search/storage/tables.h"
#include "tests/search/storage_checks.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

// Runs statements on a file by SQLite only.
void execute(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(database);
}

// Returns a file as written by this version of Optuna.
fs::path dump_of(const std::string& version, const TemporaryFolder& folder) {
  const fs::path file = folder.path() / (version + ".db");
  execute(file,
          read_file(test_data() / fmt::format("vectors/search/optuna_schema_{}.sql", version)));
  return file;
}

std::map<std::string, std::string> statements_of(const fs::path& file) {
  std::map<std::string, std::string> statements;
  const auto database = open_sqlite(file, /*may_create=*/false);
  database->run(
      "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL", {},
      [&](const SqlRow& row) { statements[std::string(row.text(0))] = std::string(row.text(1)); });
  return statements;
}

class SqliteStorage : public ::testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "study.db"; }
  OpenStorage open() const {
    return [file = file().string()] { return open_storage(file); };
  }
  TemporaryFolder folder_;
};

TEST_F(SqliteStorage, KeepsTrialsOfEveryKind) { check_keeps_trials_of_every_kind(open()); }
TEST_F(SqliteStorage, RunsATrialFromClaimToEnd) { check_runs_a_trial_from_claim_to_end(open()); }
TEST_F(SqliteStorage, WritesNothingToFinishedTrials) {
  check_writes_nothing_to_finished_trials(open());
}
TEST_F(SqliteStorage, KeepsPointersToWhatIsFinished) {
  check_keeps_pointers_to_what_is_finished(open());
}
TEST_F(SqliteStorage, KnowsWhoIsSilent) { check_knows_who_is_silent(open()); }
TEST_F(SqliteStorage, KeepsStudiesApart) { check_keeps_studies_apart(open()); }
TEST_F(SqliteStorage, BeginsStudiesWhole) { check_begins_studies_whole(open()); }
TEST_F(SqliteStorage, TakesNamesOf512Characters) { check_takes_names_of_512_characters(open()); }
TEST_F(SqliteStorage, IsClaimedFromOnceByFourProcesses) { check_claims_once(open(), 4, 60, 10); }
TEST_F(SqliteStorage, LosesOnlyWhatAKilledWorkerRan) {
  check_loses_only_what_a_killed_worker_ran(open(), 5);
}
TEST_F(SqliteStorage, LongIsClaimedFromOnceByEightProcesses) {
  check_claims_once(open(), 8, 800, 100);
}
TEST_F(SqliteStorage, LongLosesOnlyWhatAKilledWorkerRan) {
  check_loses_only_what_a_killed_worker_ran(open(), 50);
}

constexpr const char* kFilledTables[] = {"studies",
                                         "study_directions",
                                         "study_user_attributes",
                                         "study_system_attributes",
                                         "trials",
                                         "trial_values",
                                         "trial_params",
                                         "trial_intermediate_values",
                                         "trial_user_attributes",
                                         "trial_system_attributes"};

// Returns the row counts of the tables and the states of trials, as another connection reads them.
std::string contents_of(const fs::path& file) {
  const auto database = open_sqlite(file, /*may_create=*/false);
  std::string contents;
  const auto add = [&](const std::string& query) {
    database->run(query, {},
                  [&](const SqlRow& row) { contents += fmt::format("{} ", row.text(0)); });
  };
  for (const char* table : kFilledTables) add(fmt::format("SELECT count(*) FROM {}", table));
  add("SELECT state FROM trials ORDER BY trial_id");
  return contents;
}

// Each statement of each change fails once. The change then has no effect and can be repeated.
TEST_F(SqliteStorage, ChangesAllOrNothing) {
  const std::vector<Direction> directions = {Direction::minimize};
  StudyStart start{.user_attributes = {{"a", 1}},
                   .system_attributes = {{"b", 2}},
                   .trials = {full_trial(TrialState::complete), full_trial(TrialState::running),
                              full_trial(TrialState::waiting)}};
  start.trials[0].values = {1};
  const Trial complete = start.trials[0];
  const TrialEnd end{.values = {1},
                     .change = {.parameters = {{"x", real_values(0, 1), 0.5}},
                                .reports = {{9, 1}},
                                .user_attributes = {{"c", 3}},
                                .system_attributes = {{"d", 4}}}};
  std::int64_t study = -1, running = -1;
  {
    const auto storage = open()();
    study = storage->create_study("begun", directions, start).id;
    running = all_trials(*storage, "begun").at(1).id;
  }
  struct Change {
    const char* name;
    const char* statement;
    std::size_t tables;  // that it writes to
    std::function<void(StudyStorage&)> make;
  };
  const Change changes[] = {
      {"create_study", "INSERT", 10,
       [&](StudyStorage& storage) { storage.create_study("new", directions, start); }},
      {"create_trial", "INSERT", 6,
       [&](StudyStorage& storage) { storage.create_trial(study, complete); }},
      {"claim_waiting", "INSERT", 1,
       [&](StudyStorage& storage) {
         storage.claim_waiting(study, {{"worker", 1}});
       }},
      {"write", "INSERT", 4, [&](StudyStorage& storage) { storage.write(running, end.change); }},
      {"finish", "INSERT", 5, [&](StudyStorage& storage) { storage.finish(running, end); }},
      {"delete_study", "DELETE", 10, [&](StudyStorage& storage) { storage.delete_study(study); }}};
  for (const Change& change : changes) {
    std::size_t refusals = 0;
    for (const char* table : kFilledTables) {
      SCOPED_TRACE(fmt::format("{}, {}", change.name, table));
      const fs::path copy = folder_.path() / fmt::format("{} {}.db", change.name, table);
      fs::copy_file(file(), copy);
      execute(copy, fmt::format("CREATE TRIGGER refuse BEFORE {} ON {} BEGIN SELECT RAISE(ABORT, "
                                "'refused'); END",
                                change.statement, table));
      const std::string before = contents_of(copy);
      const auto storage = open_storage(copy.string());
      try {
        change.make(*storage);
      } catch (const UserError& error) {
        ++refusals;
        EXPECT_NE(std::string_view(error.what()).find("refused"), std::string_view::npos);
        EXPECT_EQ(contents_of(copy), before);
        execute(copy, "DROP TRIGGER refuse");
        change.make(*storage);
      }
      EXPECT_NE(contents_of(copy), before);
    }
    EXPECT_EQ(refusals, change.tables) << change.name;
  }
}

TEST_F(SqliteStorage, IsMadeOnceByFourProcessesThatBeginTogether) {
  for (int round = 0; round < 5; ++round) {
    const fs::path fresh = folder_.path() / fmt::format("{}.db", round);
    std::vector<pid_t> processes;
    for (int i = 0; i < 4; ++i) {
      processes.push_back(::fork());
      if (processes.back() == 0) {
        int code = 1;
        try {
          open_storage(fresh.string())
              ->create_study(fmt::format("of {}", i), {Direction::minimize});
          code = 0;
        } catch (const std::exception& error) {
          fmt::print(stderr, "{}\n", error.what());
        }
        ::_exit(code);
      }
    }
    for (const pid_t process : processes) {
      int status = 0;
      ::waitpid(process, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(open_storage(fresh.string())->studies().size(), 4u);
  }
}

TEST_F(SqliteStorage, HasTheTablesThatOptunaMakes) {
  open()();
  EXPECT_EQ(statements_of(file()), statements_of(dump_of("4.9", folder_)));
  const auto database = open_sqlite(file(), /*may_create=*/false);
  std::string line;
  database->run(
      "SELECT version_info_id, schema_version, library_version, version_num FROM version_info, "
      "alembic_version",
      {}, [&](const SqlRow& row) {
        line = fmt::format("{} {} {} {}", row.integer(0), row.integer(1), row.text(2), row.text(3));
      });
  EXPECT_EQ(line, "1 12 4.9.0 v3.2.0.a");
}

TEST_F(SqliteStorage, ReadsWhatOptunaWrote) {
  const auto storage = open_storage("sqlite:///" + dump_of("4.9", folder_).string(), true);
  std::vector<std::string> names;
  for (const Study& study : storage->studies()) names.push_back(study.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"mase_like", "asha", "grid", "mase_mo", "constrained"}));
  EXPECT_EQ(storage->find_study("mase_mo")->directions,
            (std::vector<Direction>{Direction::maximize, Direction::minimize}));
  EXPECT_EQ(storage->find_study("mase_mo")->system_attributes.at("study:metric_names"),
            Json({"accuracy", "avg_bits"}));

  const std::vector<Trial> trials = all_trials(*storage, "mase_like");
  ASSERT_EQ(trials.size(), 8u);
  const TrialState states[] = {TrialState::complete, TrialState::pruned,   TrialState::fail,
                               TrialState::complete, TrialState::complete, TrialState::fail,
                               TrialState::running,  TrialState::waiting};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(trials[i].state, states[i]) << i;
  const Trial& first = trials[0];
  std::string names_of_first;
  for (const TrialParameter& parameter : first.parameters)
    names_of_first += parameter.name + "=" +
                      to_python_json(parameter.distribution.external(parameter.value)) + " ";
  EXPECT_EQ(names_of_first,
            "num_layers=4 hidden_size=192 lr=0.01 drop=0.1 batch=1 x=-0.8153228104624044 bits=4 ");
  EXPECT_EQ(first.values, std::vector<double>{-0.42475128526031380449});
  EXPECT_EQ(first.start, "2026-11-20 20:56:04.433664");
  EXPECT_EQ(first.user_attributes.at("avg_bits"), 4.5);
  EXPECT_EQ(to_line(first.system_attributes.at("fixed_params")), R"({"num_layers":4,"lr":0.01})");
  EXPECT_TRUE(std::isnan(trials[1].reports.at(2)));
  EXPECT_TRUE(trials[1].values.empty());
  EXPECT_EQ(trials[2].reports.at(1), INFINITY);
  EXPECT_EQ(trials[3].values.at(0), INFINITY);
  EXPECT_EQ(trials[4].values.at(0), -INFINITY);

  StudyView constrained{"constrained", {Direction::minimize}, {}};
  const std::vector<Trial> infeasible = all_trials(*storage, "constrained");
  for (const Trial& trial : infeasible) constrained.trials.push_back(&trial);
  EXPECT_EQ(best_trial(constrained), nullptr);
  // The study can be resumed.
  const std::int64_t study = storage->find_study("mase_like")->id;
  EXPECT_EQ(storage->claim_waiting(study)->number, 7);
  EXPECT_EQ(storage->create_trial(study, {}).number, 8);
}

TEST_F(SqliteStorage, RefusesOtherVersionsOfTheTables) {
  const fs::path old = dump_of("3.1", folder_);
  const std::string before = read_file(old);
  const std::string message = user_error_of([&] { open_storage(old.string()); });
  EXPECT_NE(
      message.find("version 'v3.0.0.d' (schema 12, written by Optuna 3.1.0), expected v3.2.0.a; "
                   "`optuna storage upgrade --storage sqlite:////"),
      std::string::npos)
      << message;
  EXPECT_EQ(read_file(old), before);
  const fs::path later = dump_of("4.9", folder_);
  execute(later, "UPDATE alembic_version SET version_num = 'v6.1.0.a'");
  expect_user_error("version 'v6.1.0.a' (schema 12, written by Optuna 4.9.0), newer than v3.2.0.a",
                    [&] { open_storage(later.string()); });
}

TEST_F(SqliteStorage, NeverWritesToWhatIsNone) {
  const fs::path text = folder_.file("notes.txt", "These are my notes, and they are long enough.");
  expect_user_error("not an SQLite file", [&] { open_storage(text.string()); });
  EXPECT_EQ(read_file(text), "These are my notes, and they are long enough.");
  const fs::path other = folder_.path() / "other.db";
  execute(other, "CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ada');");
  const std::string before = read_file(other);
  expect_user_error("this database has no tables of studies",
                    [&] { open_storage(other.string()); });
  EXPECT_EQ(read_file(other), before);
  execute(other, "PRAGMA journal_mode=WAL; DROP TABLE people;");
  const std::string emptied = read_file(other);
  expect_user_error("this database has no tables of studies",
                    [&] { open_storage(other.string()); });
  EXPECT_EQ(read_file(other), emptied);
  expect_user_error("this is a folder", [&] { open_storage(folder_.path().string()); });
  expect_user_error("cannot be opened", [&] { open_storage(folder_.path() / "no/folder/a.db"); });
  expect_user_error("no such file", [&] { open_storage(file().string(), true); });
  EXPECT_FALSE(fs::exists(file()));
  expect_user_error("it is empty",
                    [&] { open_storage(folder_.file("empty.db", "").string(), true); });
  expect_user_error("begins with 'mysql://'", [] { open_storage("mysql://me:secret@host/db"); });
  expect_user_error("options are not supported", [] { open_storage("sqlite:///a.db?timeout=3"); });
  expect_user_error("got none", [] { open_storage(""); });
}

TEST_F(SqliteStorage, IsAPlainFileOnceItIsClosed) {
  const auto log_of = [&](int byte) { return read_file(file())[byte]; };
  const fs::path log = file().string() + "-wal";
  const auto storage = open()();
  storage->create_study("a", {Direction::minimize});
  EXPECT_EQ(log_of(18), 2);
  EXPECT_TRUE(fs::exists(log));
  auto other = open()();
  other->create_study("b", {Direction::minimize});
  storage->close();
  EXPECT_EQ(log_of(18), 2) << "somebody else works on it";
  other.reset();
  EXPECT_EQ(log_of(18), 1);
  EXPECT_EQ(log_of(19), 1);
  EXPECT_FALSE(fs::exists(log));
  const std::string before = read_file(file());
  EXPECT_EQ(open()()->studies().size(), 2u);
  EXPECT_EQ(read_file(file()), before) << "who reads changes nothing";
}

TEST_F(SqliteStorage, IsAPlainFileAfterTwoThatCloseAtOnce) {
  for (int round = 0; round < 5; ++round) {
    check_claims_once([&] { return open_storage(folder_.path() / fmt::format("{}.db", round)); }, 2,
                      0, 2);
    EXPECT_EQ(read_file(folder_.path() / fmt::format("{}.db", round))[18], 1);
  }
}

// A dashboard or `hone watch` may keep the file open. The file is complete even then when its writer closes it.
TEST_F(SqliteStorage, IsWholeWithoutItsLogThoughSomebodyHasItOpen) {
  const auto storage = open()();
  const Study study = storage->create_study("study", {Direction::minimize});
  const auto reader = open()();
  ASSERT_EQ(reader->studies().size(), 1u);
  storage->create_trial(study.id, {});
  storage->close();
  const fs::path copy = folder_.path() / "copy.db";
  fs::copy_file(file(), copy);
  const auto copied = open_storage(copy.string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  copied->read_trials(copied->find_study("study").value().id, trials);
  EXPECT_EQ(trials.size(), 1u);
  EXPECT_EQ(reader->studies().size(), 1u);
}

TEST_F(SqliteStorage, SaysWhereWhatWasWrittenLastStandsBesideTheFile) {
  const fs::path alone = folder_.path() / "alone.db", log = alone.string() + "-wal";
  check_is_whole(alone.string());
  write_file(log, "");
  check_is_whole(alone.string());
  write_file(log, "pages");
  for (const std::string& where : {alone.string(), "sqlite:///" + alone.string()})
    expect_user_error("another program keeps the study open", [&] { check_is_whole(where); });
  check_is_whole("postgresql://me@server/studies");
}

TEST_F(SqliteStorage, IsReadWhereItCannotBeWritten) {
  open()()->create_study("a", {Direction::minimize});
  fs::permissions(file(), static_cast<fs::perms>(0444));
  fs::permissions(folder_.path(), static_cast<fs::perms>(0755));
  // Root ignores permissions, so the test runs as nobody.
  const pid_t process = ::fork();
  if (process == 0) {
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    int code = 1;
    try {
      const auto storage = open()();
      if (storage->studies().size() != 1) ::_exit(3);
      storage->create_study("b", {Direction::minimize});
    } catch (const UserError& error) {
      code = std::string_view(error.what()).find("no permission to write") == std::string::npos ? 4
                                                                                                : 0;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SqliteStorage, LongTellsThatAnotherProgramKeepsItLocked) {
  const auto storage = open()();
  storage->create_study("a", {Direction::minimize});
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  expect_user_error("database is locked: another program has locked it for 30 seconds",
                    [&] { storage->create_study("b", {Direction::minimize}); });
  sqlite3_close(other);
  storage->create_study("b", {Direction::minimize});
  EXPECT_EQ(storage->studies().size(), 2u);
}

TEST_F(SqliteStorage, WritesAllOrNothingWhereThereIsNoRoom) {
  open()()->create_study("a", {Direction::minimize});
  const auto database = open_sqlite(file(), /*may_create=*/false);
  database->run("PRAGMA max_page_count=1");  // SQLite raises it to the current number of pages
  expect_user_error("the disk is full; this step was not stored", [&] {
    database->transact(SqlAccess::write, [&] {
      for (int i = 0; i < 1000; ++i)
        database->run("INSERT INTO studies (study_name) VALUES ($1)",
                      {std::string(100, 'x') + std::to_string(i)});
    });
  });
  database->close();
  EXPECT_EQ(open()()->studies().size(), 1u);
}

TEST_F(SqliteStorage, WritesAllOrNothingOnAFullDisk) {
  const fs::path disk = folder_.path() / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0)
    GTEST_SKIP() << "a small disk can be made by root alone: " << std::strerror(errno);
  const auto unmount = [](const fs::path* path) { ::umount2(path->c_str(), MNT_DETACH); };
  const std::unique_ptr<const fs::path, decltype(unmount)> mounted(&disk, unmount);
  {
    const auto storage = open_storage((disk / "a.db").string());
    const std::int64_t study = storage->create_study("a", {Direction::minimize}).id;
    std::size_t written = 0;
    const std::string message = user_error_of([&] {
      for (;; ++written)
        storage->create_trial(study, {.user_attributes = {{"text", std::string(2000, 'x')}}});
    });
    EXPECT_NE(message.find("the disk is full"), std::string::npos) << message;
    EXPECT_EQ(all_trials(*storage, "a").size(), written);
  }
}

TEST_F(SqliteStorage, TellsWhatIsDamagedAndWhere) {
  const fs::path dump = dump_of("4.9", folder_);
  const auto message_after = [&](const std::string& sql) {
    execute(dump, sql);
    const auto storage = open_storage(dump.string());
    return user_error_of([&] { all_trials(*storage, "mase_like"); });
  };
  const std::string state =
      message_after("BEGIN; UPDATE trials SET state = 'LOST' WHERE trial_id = 3; COMMIT");
  EXPECT_NE(state.find("4.9.db: trial 3: no state of a trial is called 'LOST'"), std::string::npos)
      << state;
  execute(dump, "UPDATE trials SET state = 'FAIL' WHERE trial_id = 3");
  const std::string index =
      message_after("UPDATE trial_params SET param_value = 9 WHERE param_id = 7");
  EXPECT_NE(index.find("trial 1: parameter 'bits': 9.0 is not one of its values"),
            std::string::npos)
      << index;
  const std::string distribution =
      message_after("UPDATE trial_params SET distribution_json = '{}' WHERE param_id = 2");
  EXPECT_NE(distribution.find("trial 1: parameter 'hidden_size': {} is not a distribution"),
            std::string::npos)
      << distribution;
  const std::string attribute = message_after(
      "DELETE FROM trial_params; UPDATE trial_user_attributes SET value_json = '{' WHERE key = "
      "'memo'");
  EXPECT_NE(attribute.find("attribute 'memo'"), std::string::npos) << attribute;
}

TEST_F(SqliteStorage, IsCopiedForOptuna31) {
  open()()->create_study("a", {Direction::maximize});
  const std::string before = read_file(file());
  const fs::path copy = folder_.path() / "for 3.1.db";
  export_for_optuna_3_1(file(), copy);
  EXPECT_EQ(read_file(file()), before);
  expect_user_error("'v3.0.0.d'", [&] { open_storage(copy.string()); });
  EXPECT_EQ(read_file(copy)[18], 1);
  std::map<std::string, std::string> expected = statements_of(file());
  EXPECT_EQ(statements_of(copy), expected);
  expect_user_error("for 3.1.db", [&] { export_for_optuna_3_1(file(), copy); });
  expect_user_error("no such file", [&] { export_for_optuna_3_1(folder_.path() / "b.db", copy); });
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2);
}

TEST(Storage, TellsTheTimeAsOptunaDoes) {
  const std::string now = utc_now();
  ASSERT_EQ(now.size(), std::string("2026-11-25 03:00:59.123456").size());
  std::tm parts = {};
  const char* end = ::strptime(now.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(*end, '.');
  EXPECT_NEAR(static_cast<double>(::timegm(&parts)), static_cast<double>(::time(nullptr)), 2);
}

TEST(Storage, TakesALocalDiskForOne) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_on_network_file_system(folder.path() / "not/there/yet.db"));
}

}  // namespace
}  // namespace hone::testing
