#include "hone/jobs/run_identity.h"

#include <fmt/ranges.h>

#include <set>

#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/base/text.h"
#include "hone/compiler/compiled.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

// Hashes the length of each piece too, so that boundaries cannot shift unnoticed.
void add_piece(Fingerprint& hash, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  hash.add(std::as_bytes(std::span(&size, 1)));
  hash.add(bytes);
}

std::string identity_text(const ParameterStore& parameters) {
  Fingerprint hash;
  std::int64_t elements = 0;
  for (const auto& [name, tensor] : parameters.tensors()) {
    const Tensor host = dense_on(tensor, cpu());
    add_piece(hash, std::as_bytes(std::span(name)));
    add_piece(hash, host_bytes(host));
    elements += host.count();
  }
  return fmt::format("{} parameters, fingerprint {}", elements, hash.text());
}

std::string identity_text(const EncodedSet& set) {
  Fingerprint hash;
  for (const auto& ids : set.ids) add_piece(hash, std::as_bytes(std::span(ids)));
  add_piece(hash, std::as_bytes(std::span(set.labels)));
  add_piece(hash, std::as_bytes(std::span(set.type_1_begins)));
  if (set.images != nullptr) {
    add_piece(hash, std::as_bytes(std::span(set.images->bytes)));
    for (const auto* values : {&set.images->factors, &set.images->shifts, &set.images->values})
      add_piece(hash, std::as_bytes(std::span(*values)));
  }
  return fmt::format("{} texts, fingerprint {}", set.size(), hash.text());
}

// Keys in the identity of a run.
constexpr const char *kNumericsKey = "numerics", *kCommandKey = "command";

// Returns 0 for an altered record.
int numerics_of(const FolderRecord& record) {
  const bool counted = record.job.is_object() && record.job.contains(kNumericsKey) &&
                       record.job[kNumericsKey].is_number_integer();
  return counted ? record.job[kNumericsKey].get<int>() : 0;
}

std::string setting_text(const Json& identity, const std::string& key) {
  if (!identity.contains(key) || identity[key] == "") return "not given";
  return identity[key].is_string() ? identity[key].get<std::string>() : to_line(identity[key]);
}

// Keys of identities are settings, except those with spaces ("the model").
bool is_setting(std::string_view key) { return key.find(' ') == std::string_view::npos; }

// Returns a line for each setting that differs. A setting that did not exist then had its default value.
std::vector<std::string> differences(const Json& then, const Json& now, const Json& defaults) {
  std::set<std::string> keys;
  for (const Json* json : {&then, &now})
    for (const auto& [key, value] : json->items()) keys.insert(key);
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const std::string before = setting_text(then.contains(key) ? then : defaults, key),
                      after = setting_text(now, key);
    if (before != after)
      lines.push_back(fmt::format("\n  {}: {} then, {} now",
                                  is_setting(key) ? fmt::format("`{}`", key) : key, before, after));
  }
  return lines;
}

// Returns a line for each file of a finished run that is missing or changed.
std::vector<std::string> lost_files(const FolderRecord& record, const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& [path, file] : record.files) {
    if (!path_exists(folder / path)) {
      lines.push_back(fmt::format("\n  {}: is missing", path));
    } else if (is_folder(folder / path) || recorded(folder / path) != file) {
      lines.push_back(fmt::format("\n  {}: was changed", path));
    }
  }
  return lines;
}

// Compares the requested run with that of a record, except for their numerics: a line for each difference.
std::vector<std::string> differences_from(const FolderRecord& record, const Invocation& invocation,
                                          const Json& identity) {
  if (!record.job.is_object())
    return {fmt::format("\n  {} describes a job that cannot be resumed", kRecordFile)};
  Json then = record.job, now = identity;
  for (const char* key : {kNumericsKey, kCommandKey}) {
    then.erase(key);
    now.erase(key);
  }
  return differences(then, now, invocation.defaults);
}

// Refuses to resume a run of another command. `way_out` says what to do instead.
void check_command(const FolderRecord& record, const fs::path& folder, const std::string& command,
                   const char* way_out) {
  const std::string made_by = command_of(record, folder);
  user_check(made_by.empty() || made_by == command,
             "{}: was made by `hone {}`, so `hone {}` cannot resume it\n{}", folder.string(),
             made_by, command, way_out);
}

}  // namespace

std::string command_of(const FolderRecord& record, const fs::path& folder) {
  const auto text_at = [](const Json& json, const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string()
               ? json[key].get<std::string>()
               : "";
  };
  std::string command = text_at(record.job, kCommandKey);
  try {
    if (command.empty()) command = text_at(read_json(folder / "settings.json"), "command");
  } catch (const UserError&) {
    return "";  // missing or unreadable
  }
  return command;
}

Json result_settings(Json settings) {
  for (const char* key :
       {"MODEL", "model", "distill", "data", "output_dir", "overwrite_output_dir", "resume",
        "save_steps", "save_total_limit", "report_to", "save_optimizer_state", "threads", "json",
        "quiet", "color", "show_passes", "dump_passes"})
    settings.erase(key);
  return settings;
}

std::string computed_by(const Session& session) {
  std::vector<std::string> parts;
  if (&session.device != &cpu()) {
    parts.emplace_back(session.device.kind());
    parts.push_back(session.device.description());
  }
  if (session.values != DType::f32)
    parts.push_back(fmt::format("values in {}", info(session.values).name));
  if (session.executor == compiler::compiled) parts.emplace_back("compiled");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json run_identity(const Json& settings, const ParameterStore& parameters, const EncodedSplits& data,
                  const Teacher* teacher) {
  Json identity = result_settings(settings);
  identity[kNumericsKey] = kNumerics;
  identity["the model"] = identity_text(parameters);
  identity["the training texts"] = identity_text(data.train);
  identity["the validation texts"] = identity_text(data.validation);
  identity["the test texts"] = identity_text(data.test);
  if (teacher != nullptr) {
    identity["the parent"] = identity_text(teacher->model.model.parameters);
    identity["the training texts as the parent reads them"] = identity_text(teacher->texts);
  }
  return identity;
}

bool begin_run(const Invocation& invocation, const ParameterStore& parameters,
               const EncodedSplits& data, OutputFolder& output, const Teacher* teacher,
               const std::vector<std::string>& bounds) {
  Json identity = run_identity(invocation.settings, parameters, data, teacher);
  identity[kCommandKey] = invocation.name;
  const auto& finished = output.previous();
  if (output.options().resume && finished) {
    if (!output.options().overwrite)
      check_command(*finished, output.destination(), invocation.name,
                    "Give another output folder, or `overwrite`");
    const auto lines = differences_from(*finished, invocation, identity);
    const auto lost = lost_files(*finished, output.destination());
    if (lines.empty() && lost.empty()) return false;
    user_check(output.options().overwrite || lines.empty(),
               "{}: contains another finished run:{}\nGive another output folder, or `overwrite`",
               output.destination().string(), fmt::join(lines, ""));
    user_check(output.options().overwrite,
               "{}: this run is finished, but its files were changed since:{}\nRestore them, or "
               "run it again with `overwrite`, which keeps changed files as NAME.kept",
               output.destination().string(), fmt::join(lost, ""));
  }
  const auto& interrupted = output.interrupted();
  if (!interrupted) {
    output.begin(identity);
    return true;
  }
  check_command(*interrupted, output.path(), invocation.name,
                "Give another output folder, or start again with `overwrite` and without `resume`");
  user_check(interrupted->finished || numerics_of(*interrupted) == kNumerics,
             "{}: this run was started by a version of hone whose arithmetic rounds differently "
             "(numerics {}, here {}), so it cannot be resumed\nFinish it with the version that "
             "started it, or start again with `overwrite` and without `resume`",
             output.path().string(), numerics_of(*interrupted), kNumerics);
  Json identity_then = identity;
  if (!interrupted->finished && interrupted->job.is_object())
    for (const std::string& bound : bounds)
      if (interrupted->job.contains(bound)) identity_then[bound] = interrupted->job[bound];
  const auto lines = differences_from(*interrupted, invocation, identity_then);
  user_check(
      lines.empty(),
      "{}: this run differs from the interrupted one, so it cannot resume from its "
      "checkpoints:{}\nGive the same command, or start again with `overwrite` and without `resume`",
      output.path().string(), fmt::join(lines, ""));
  if (interrupted->finished) {
    output.commit();  // only the commit was missing
    return false;
  }
  output.continue_job(identity);
  return true;
}

}  // namespace hone
