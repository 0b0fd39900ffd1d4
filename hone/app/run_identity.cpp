#include "hone/app/run_identity.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <set>

#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone {
namespace {

/// CRC-32, as versions before records wrote it into resume.json.
class Checksum {
 public:
  static constexpr std::string_view kName = "checksum";
  void add(std::span<const std::byte> bytes) {
    // Without bytes there may be no address either, which would ask zlib for a new beginning.
    if (!bytes.empty())
      crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  std::string text() const { return fmt::format("{:08x}", crc_); }

 private:
  uLong crc_ = ::crc32_z(0, nullptr, 0);
};

class Print : public Fingerprint {
 public:
  static constexpr std::string_view kName = "fingerprint";
};

// Each piece with its length, so that no boundary moves unseen.
void add_piece(auto& hash, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  hash.add(std::as_bytes(std::span(&size, 1)));
  hash.add(bytes);
}

template <typename Hash>
std::string describe(const ParameterStore& parameters) {
  Hash hash;
  std::int64_t elements = 0;
  for (const auto& [name, tensor] : parameters.tensors()) {
    const Tensor host = tensor.on(cpu());
    add_piece(hash, std::as_bytes(std::span(name)));
    add_piece(hash,
              std::as_bytes((host.contiguous() ? host : host.contiguous_copy()).values<float>()));
    elements += host.count();
  }
  return fmt::format("{} parameters, {} {}", elements, Hash::kName, hash.text());
}

template <typename Hash>
std::string describe(const EncodedSet& set) {
  Hash hash;
  for (const auto& ids : set.ids) add_piece(hash, std::as_bytes(std::span(ids)));
  add_piece(hash, std::as_bytes(std::span(set.labels)));
  add_piece(hash, std::as_bytes(std::span(set.second_begins)));
  return fmt::format("{} texts, {} {}", set.size(), Hash::kName, hash.text());
}

template <typename Hash>
Json identity_by(const Json& settings, const ParameterStore& parameters,
                 const EncodedSplits& data) {
  Json identity = result_settings(settings);
  identity["the model"] = describe<Hash>(parameters);
  identity["the training texts"] = describe<Hash>(data.train);
  identity["the validation texts"] = describe<Hash>(data.validation);
  identity["the test texts"] = describe<Hash>(data.test);
  return identity;
}

// Model and data by their names, where their contents were not kept.
Json identity_by_name(const Json& settings) {
  Json identity = result_settings(settings);
  for (const char* key : {"MODEL", "data"})
    if (settings.contains(key)) identity[key] = settings[key];
  return identity;
}

std::string value_text(const Json& identity, const std::string& key) {
  if (!identity.contains(key)) return "not there";
  return identity[key].is_string() ? identity[key].get<std::string>() : to_line(identity[key]);
}

// A line for each setting that differs. One that there was not yet had the value it has by default.
std::vector<std::string> differences(const Json& then, const Json& now, const Json& defaults) {
  std::set<std::string> keys;
  for (const Json* json : {&then, &now})
    for (const auto& [key, value] : json->items()) keys.insert(key);
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const std::string before = value_text(then.contains(key) ? then : defaults, key),
                      after = value_text(now, key);
    if (before != after)
      lines.push_back(fmt::format("\n  {}: {} then, {} now", key, before, after));
  }
  return lines;
}

// A line for each file of a finished run that is not as it was written.
std::vector<std::string> lost_files(const FolderRecord& record, const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& [path, file] : record.files) {
    if (!path_exists(folder / path)) {
      lines.push_back(fmt::format("\n  {}: is not there any more", path));
    } else if (is_folder(folder / path) || recorded(folder / path) != file) {
      lines.push_back(fmt::format("\n  {}: was changed", path));
    }
  }
  return lines;
}

/// The run that is asked for, to be compared with what lies in a folder.
struct AskedFor {
  const Invocation& invocation;
  const ParameterStore& parameters;
  const EncodedSplits& data;

  Json identity() const { return run_identity(invocation.settings, parameters, data); }

  std::vector<std::string> differences_from(const FolderRecord& record,
                                            const fs::path& folder) const {
    const Json& defaults = invocation.defaults;
    if (!record.by_name) {
      if (record.job.is_object()) return differences(record.job, identity(), defaults);
      return {fmt::format("\n  {} tells of a job that is not one to go on with", kRecordFile)};
    }
    if (!record.finished)
      return differences(read_json(folder / "resume.json"),
                         identity_by<Checksum>(invocation.settings, parameters, data), defaults);
    const Json settings = read_json(folder / "settings.json").at("settings");
    return differences(identity_by_name(settings), identity_by_name(invocation.settings), defaults);
  }
};

}  // namespace

Json result_settings(Json settings) {
  for (const char* key : {"MODEL", "data", "output_dir", "overwrite_output_dir", "resume",
                          "save_steps", "save_total_limit", "report_to", "save_optimizer_state",
                          "threads", "json", "quiet", "color"})
    settings.erase(key);
  return settings;
}

Json run_identity(const Json& settings, const ParameterStore& parameters,
                  const EncodedSplits& data) {
  return identity_by<Print>(settings, parameters, data);
}

bool begin_run(const Invocation& invocation, const ParameterStore& parameters,
               const EncodedSplits& data, OutputFolder& output) {
  const AskedFor run{invocation, parameters, data};
  const auto& finished = output.former();
  if (output.options().resume && finished) {
    const auto lines = run.differences_from(*finished, output.destination());
    const auto lost = lost_files(*finished, output.destination());
    if (lines.empty() && lost.empty()) return false;
    user_check(output.options().overwrite || lines.empty(),
               "{}: another run is finished there:{}\nGive another output folder, or --overwrite",
               output.destination().string(), fmt::join(lines, ""));
    user_check(output.options().overwrite,
               "{}: this run is finished, but what it wrote is not what stands there:{}\nPut it "
               "back, or make it again by --overwrite, which keeps what was changed as NAME.kept",
               output.destination().string(), fmt::join(lost, ""));
  }
  const auto& interrupted = output.interrupted();
  if (!interrupted) {
    output.begin(run.identity());
    return true;
  }
  const auto lines = run.differences_from(*interrupted, output.path());
  user_check(lines.empty(),
             "{}: this is another run than the one that was interrupted, and cannot go on with its "
             "checkpoints:{}\nGive the same command, or start again with --overwrite and without "
             "--resume",
             output.path().string(), fmt::join(lines, ""));
  if (interrupted->finished) {
    output.commit();  // all that was missing
    return false;
  }
  output.go_on(run.identity());
  return true;
}

}  // namespace hone
