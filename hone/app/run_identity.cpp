#include "hone/app/run_identity.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <set>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr const char* kFile = "resume.json";

/// CRC-32 over pieces, each with its length, so that no boundary moves unseen.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(&size), sizeof size);
    // Without bytes there may be no address either, which would ask zlib for a new beginning.
    if (!bytes.empty())
      crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  std::string text() const { return fmt::format("{:08x}", crc_); }

 private:
  uLong crc_ = ::crc32_z(0, nullptr, 0);
};

std::string describe(const ParameterStore& parameters) {
  Checksum sum;
  std::int64_t elements = 0;
  for (const auto& [name, tensor] : parameters.tensors()) {
    const Tensor host = tensor.on(cpu());
    sum.add(std::as_bytes(std::span(name)));
    sum.add(std::as_bytes((host.contiguous() ? host : host.contiguous_copy()).values<float>()));
    elements += host.count();
  }
  return fmt::format("{} parameters, checksum {}", elements, sum.text());
}

std::string describe(const EncodedSet& set) {
  Checksum sum;
  for (const auto& ids : set.ids) sum.add(std::as_bytes(std::span(ids)));
  sum.add(std::as_bytes(std::span(set.labels)));
  sum.add(std::as_bytes(std::span(set.second_begins)));
  return fmt::format("{} texts, checksum {}", set.size(), sum.text());
}

std::string value_text(const Json& identity, const std::string& key) {
  if (!identity.contains(key)) return "not there";
  return identity[key].is_string() ? identity[key].get<std::string>() : to_line(identity[key]);
}

}  // namespace

Json run_identity(const Json& settings, const ParameterStore& parameters,
                  const EncodedSplits& data) {
  Json identity = settings;
  identity["the model"] = describe(parameters);
  identity["the training texts"] = describe(data.train);
  identity["the validation texts"] = describe(data.validation);
  identity["the test texts"] = describe(data.test);
  return identity;
}

void check_identity(const Json& identity, const fs::path& folder, bool resume) {
  const fs::path file = folder / kFile;
  std::error_code error;
  if (!resume || !fs::exists(file, error)) return write_file(file, to_document(identity));
  const Json then = read_json(file);
  std::set<std::string> keys;
  for (const Json* json : {&then, &identity})
    for (const auto& [key, value] : json->items()) keys.insert(key);
  std::vector<std::string> differences;
  for (const std::string& key : keys) {
    const std::string before = value_text(then, key), now = value_text(identity, key);
    if (before != now)
      differences.push_back(fmt::format("\n  {}: {} when it began, {} now", key, before, now));
  }
  user_check(differences.empty(),
             "{}: this is another run than the one that was interrupted, and cannot go on with its "
             "checkpoints:{}\nGive the same command, or start again with --overwrite",
             folder.string(), fmt::join(differences, ""));
}

void remove_identity(const fs::path& folder) { fs::remove(folder / kFile); }

}  // namespace hone
