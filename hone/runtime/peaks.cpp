#include "hone/runtime/peaks.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "hone/base/cache_folder.h"
#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/thread_pool.h"

namespace hone {
namespace {

// Version of the file and of the measurement (kernels/peak.cpp): a higher one discards rates that were measured
// differently.
constexpr int kVersion = 1;
constexpr std::uintmax_t kMaxBytes = 1 << 20;
// Arithmetic below this share of its highest rate is considered disturbed by other programs.
constexpr double kQuiet = 0.8;

std::string today() {
  return fmt::format(
      "{:%Y-%m-%d}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

void note_once(std::vector<std::string>& notes, std::string note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

bool is_record(const Json& peak) {
  const auto text = [&](const char* key) { return peak.contains(key) && peak[key].is_string(); };
  const auto number = [&](const char* key) { return peak.contains(key) && peak[key].is_number(); };
  return peak.is_object() && text("processor") && text("instruction_sets") && text("kind") &&
         text("date") && number("threads") && number("value") && peak["value"] > 0;
}

// Returns the document; an empty one if the file is missing or of an older version, none if hone did not write it.
std::optional<Json> document_in(const fs::path& file) {
  const Json empty = {{"version", kVersion}, {"peaks", Json::array()}};
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return empty;
  if (!fs::is_regular_file(status) || fs::file_size(file, error) > kMaxBytes) return std::nullopt;
  try {
    Json document = read_json(file);
    const bool ours = document.is_object() && document.value("version", Json()).is_number() &&
                      document["version"] <= kVersion && document.contains("peaks") &&
                      document["peaks"].is_array() &&
                      std::ranges::all_of(document["peaks"], is_record);
    if (!ours) return std::nullopt;
    return document["version"] < kVersion ? empty : std::move(document);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void write(const Json& document, const fs::path& file, std::vector<std::string>& notes) {
  try {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    write_file(file, to_document(document));
  } catch (const UserError& reason) {
    note_once(notes,
              fmt::format("measured peaks are not stored for the next run: {}", reason.what()));
  }
}

}  // namespace

std::string_view to_string(PeakKind kind) {
  constexpr std::string_view kNames[] = {"fp32_gflops",    "copy_gbps",        "read_gbps",
                                         "int8_gops",      "bf16_gflops",      "sign_gops",
                                         "int8_byte_gops", "int8_widened_gops"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string provenance(const Peak& peak) {
  if (!peak.remembered()) return "measured now";
  return fmt::format("the highest known, of {}; {:.0f} measured now", peak.date, peak.measured_now);
}

fs::path peaks_file() {
  const fs::path cache = cache_folder();
  return cache.empty() ? cache : cache / "peaks.json";
}

Peak keep_highest(PeakKind kind, int threads, double measured_now, const fs::path& file,
                  std::vector<std::string>& notes) {
  Peak measured{measured_now, measured_now, today()};
  if (file.empty()) return measured;
  std::optional<Json> document = document_in(file);
  if (!document) {
    note_once(
        notes,
        fmt::format("{}: does not contain peaks written by hone and was left unchanged; remove it "
                    "so that hone can store the highest measured peaks there",
                    file.string()));
    return measured;
  }
  const Json key = {
      {"processor", cpu_model()},
      {"instruction_sets", fmt::format("{}", fmt::join(names(instruction_sets()), " "))},
      {"threads", threads},
      {"kind", to_string(kind)}};
  Json& peaks = (*document)["peaks"];
  // A rate of fewer threads is also possible with more of them.
  Peak highest = measured;
  Json* own = nullptr;
  for (Json& peak : peaks) {
    const bool same = std::ranges::all_of(key.items(), [&](const auto& part) {
      return part.key() == "threads" ? peak["threads"] <= threads
                                     : peak[part.key()] == part.value();
    });
    if (!same) continue;
    if (peak["threads"] == threads) own = &peak;
    const auto value = peak["value"].get<double>();
    if (value > highest.value) highest = {value, measured_now, peak["date"].get<std::string>()};
  }
  const bool is_of_memory = kind == PeakKind::copy_gbps || kind == PeakKind::read_gbps;
  if (!is_of_memory && measured_now < kQuiet * highest.value)
    note_once(notes,
              fmt::format("the CPU computes at less than {:.0f}% of the highest rate measured on "
                          "this machine: other programs use it, or its clock is lower; end other "
                          "programs before you measure latency",
                          100 * kQuiet));
  if (own != nullptr && (*own)["value"] >= measured_now) return highest;
  // Oversubscribed threads say nothing about the machine.
  if (threads > available_processors()) return highest;
  Json record = key;
  record["value"] = measured_now;
  record["date"] = measured.date;
  if (own == nullptr) {
    peaks.push_back(std::move(record));
  } else {
    *own = std::move(record);
  }
  write(*document, file, notes);
  return highest;
}

}  // namespace hone
