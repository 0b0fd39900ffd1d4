#include "hone/search/engine/recovery.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>

#include "hone/base/text.h"
#include "hone/search/pruners/rungs.h"

namespace hone {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns the start time of a process, in ticks since boot, which distinguishes it from other processes with the same
// PID; "" if the process is not visible. It is the 22nd word, the 20th after the name, which is in parentheses and
// may contain any characters.
std::string start_of(long long process) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", process));
  const std::size_t name = line.rfind(") ");
  if (name == std::string::npos) return "";
  const std::vector<std::string> words = split(line.substr(name + 2), ' ');
  return words.size() > 19 ? words[19] : "";
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Returns the scope in which PIDs are unique: the boot of the machine, and the PID namespace of a container.
std::string process_space() {
  char space[64] = "";
  [[maybe_unused]] const ssize_t size = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return first_line("/proc/sys/kernel/random/boot_id") + " " + space;
}

// Returns "process 7235 on vm"; for the value of another program, that value.
std::string worker_text(const Json& worker) {
  if (!worker.is_object()) return to_line(worker);
  const Json host = worker.value("host", Json()), process = worker.value("pid", Json());
  if (!host.is_string() || !process.is_number_integer()) return to_line(worker);
  return fmt::format("process {} on {}", process.get<std::int64_t>(), host.get<std::string>());
}

}  // namespace

Json current_worker() {
  return {{"host", host_name()},
          {"pid", static_cast<std::int64_t>(::getpid())},
          {"start", start_of(::getpid())},
          {"space", process_space()}};
}

bool is_dead(const Json& worker) {
  if (!worker.is_object() || worker.value("host", Json()) != host_name() ||
      worker.value("space", Json()) != process_space())
    return false;
  const Json process = worker.value("pid", Json());
  if (!process.is_number_integer() || process.get<std::int64_t>() <= 0) return false;
  if (::kill(process.get<pid_t>(), 0) != 0 && errno == ESRCH) return true;
  const std::string start = start_of(process.get<std::int64_t>());
  return !start.empty() && worker.value("start", Json()) != start;
}

TrialEnd end_of_lost(const Trial& trial, bool retried) {
  TrialEnd end{.state = TrialState::fail};
  const auto worker = trial.user_attributes.find("worker");
  end.change.user_attributes["fail_reason"] =
      worker == trial.user_attributes.end()
          ? "its worker stopped sending heartbeats"
          : fmt::format("its worker, {}, no longer exists", worker_text(worker->second));
  if (retried) end.change.system_attributes[kRunAgain] = kLost;
  return end;
}

TrialEnd end_of_interrupted() {
  TrialEnd end{.state = TrialState::fail};
  end.change.user_attributes["fail_reason"] = "its worker was asked to stop";
  end.change.system_attributes[kRunAgain] = kInterrupted;
  return end;
}

std::int64_t times_lost(const TrialTable& table, const Trial& trial) {
  const auto history = trial.system_attributes.find("retry_history");
  std::int64_t count = 1;
  if (history == trial.system_attributes.end() || !history->second.is_array()) return count;
  for (const Json& number : history->second) {
    const Trial* earlier =
        number.is_number_integer() ? trial_numbered(table, number.get<std::int64_t>()) : nullptr;
    if (earlier == nullptr) continue;
    const auto again = earlier->system_attributes.find(kRunAgain);
    // Copies made by Optuna are of trials without our attribute, whose workers were considered dead.
    if (again == earlier->system_attributes.end() || again->second != kInterrupted) ++count;
  }
  return count;
}

std::optional<Trial> next_missing_copy(const TrialTable& table) {
  if (std::none_of(table.begin(), table.end(), [](const auto& trial) {
        return trial->state == TrialState::fail && trial->system_attributes.contains(kRunAgain);
      }))
    return std::nullopt;
  std::set<std::int64_t> copied;
  for (const auto& trial : table)
    if (const auto history = trial->system_attributes.find("retry_history");
        history != trial->system_attributes.end() && history->second.is_array())
      for (const Json& number : history->second)
        if (number.is_number_integer()) copied.insert(number.get<std::int64_t>());
  for (const auto& trial : table) {
    if (trial->state != TrialState::fail || !trial->system_attributes.contains(kRunAgain) ||
        copied.contains(trial->number))
      continue;
    const auto origin = number_in(trial->user_attributes, "continues");
    const Trial* before = origin ? trial_numbered(table, *origin) : nullptr;
    Trial copy =
        before == nullptr ? copy_of(*trial, /*reports=*/false) : copy_of(*before, /*reports=*/true);
    if (const auto fixed = trial->system_attributes.find("fixed_params");
        trial->parameters.empty() && fixed != trial->system_attributes.end())
      copy.system_attributes["fixed_params"] = fixed->second;
    copy.number = next_number(table);
    copy.state = TrialState::waiting;
    copy.user_attributes = trial->user_attributes;
    copy.user_attributes.erase("worker");
    copy.user_attributes.erase("fail_reason");
    Json history = Json::array();
    if (const auto earlier = trial->system_attributes.find("retry_history");
        earlier != trial->system_attributes.end() && earlier->second.is_array())
      history = earlier->second;
    history.push_back(trial->number);
    copy.system_attributes["failed_trial"] = history[0];
    copy.system_attributes["retry_history"] = history;
    return copy;
  }
  return std::nullopt;
}

Trial copy_of(const Trial& trial, bool reports) {
  Trial copy;
  Json fixed = Json::object();
  for (const TrialParameter& parameter : trial.parameters)
    fixed[parameter.name] = parameter.distribution.external(parameter.value);
  copy.system_attributes["fixed_params"] = fixed;
  if (!reports) return copy;
  copy.reports = trial.reports;
  for (std::int64_t rung = 0; rung < rungs_reached(trial); ++rung)
    copy.system_attributes[rung_key(rung)] = *rung_value(trial, rung);
  return copy;
}

}  // namespace hone
