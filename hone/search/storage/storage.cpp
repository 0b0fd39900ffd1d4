#include "hone/search/storage/storage.h"

#include <sys/vfs.h>

#include <chrono>
#include <ctime>

#include "hone/search/storage/postgres_database.h"
#include "hone/search/storage/sql_storage.h"
#include "hone/search/storage/sqlite_database.h"
#include "hone/search/storage/tables.h"

namespace hone {
namespace {

// Magic numbers of network file systems, from statfs(2) and the kernel's magic.h.
constexpr std::uint32_t kNetworkFileSystems[] = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xfe534d42,  // SMB 2
    0xff534d42,  // CIFS
    0x01021997,  // 9P
    0x00c36400,  // Ceph
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x5346414f,  // AFS
    0x73757245,  // Coda
    0x7461636f,  // OCFS2
    0x01161970,  // GFS2
    0x65735546,  // FUSE: sshfs and many others
};

constexpr std::string_view kSqlite = "sqlite:///";

fs::path file_of(const std::string& where) {
  if (where.starts_with(kSqlite)) {
    const std::string path = where.substr(kSqlite.size());
    user_check(path.find('?') == std::string::npos,
               "{}: options are not supported in an SQLite address; give only the path", where);
    return path;
  }
  user_check(where.find("://") == std::string::npos,
             "a storage is the path of an SQLite file, sqlite:///PATH, or "
             "postgresql://USER@HOST/DATABASE; got an address that begins with '{}'",
             where.substr(0, where.find("://") + 3));
  return where;
}

}  // namespace

std::unique_ptr<StudyStorage> open_storage(const std::string& where, bool must_exist) {
  std::unique_ptr<Database> database;
  if (is_postgres_address(where)) {
    database = open_postgres(where);
  } else {
    const fs::path file = file_of(where);
    user_check(!must_exist || path_exists(file),
               "{}: no such file; expected a storage written by hone or Optuna", file.string());
    database = open_sqlite(file, !must_exist);
  }
  prepare_tables(*database, !must_exist);
  return sql_storage(std::move(database));
}

void check_is_whole(const std::string& where) {
  if (is_postgres_address(where)) return;
  const fs::path file = file_of(where), log = file.string() + "-wal";
  user_check(!path_exists(log) || fs::file_size(log) == 0,
             "{}: another program keeps the study open, so the latest data is stored only "
             "in {}; end that program, and continue with `resume`",
             file.string(), log.string());
}

bool is_on_network_file_system(const fs::path& file) {
  fs::path at = fs::absolute(file);
  struct statfs facts = {};
  while (::statfs(at.c_str(), &facts) != 0) {
    if (at == at.parent_path()) return false;
    at = at.parent_path();
  }
  for (const std::uint32_t type : kNetworkFileSystems)
    if (static_cast<std::uint32_t>(facts.f_type) == type) return true;
  return false;
}

std::string utc_now() { return utc_before(0); }

std::string utc_before(double ago) {
  using namespace std::chrono;
  const auto now = time_point_cast<microseconds>(
      system_clock::now() - duration_cast<microseconds>(duration<double>(ago)));
  const auto second = floor<seconds>(now);
  const std::time_t time = system_clock::to_time_t(second);
  std::tm parts = {};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:06}", text, (now - second).count());
}

}  // namespace hone
