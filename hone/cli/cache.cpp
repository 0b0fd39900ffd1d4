#include "hone/cli/cache.h"

#include <fmt/chrono.h>

#include <charconv>
#include <chrono>

#include "hone/base/cache_folder.h"
#include "hone/base/store.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/terminal_output.h"
#include "hone/report/field_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct CacheArguments {
  std::string limit, shrink;
  bool empty = false;
  RunArguments run;
};

/// Parses a size such as "10GiB", "500MB" or "0". Throws `UsageError`.
std::uintmax_t parse_size(std::string_view flag, const std::string& text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit kUnits[] = {
      {"", 1},      {"B", 1},      {"kB", 1e3},      {"MB", 1e6},      {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1099511627776.0}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit =
      trim(std::string_view(behind, static_cast<std::size_t>(end - behind)));
  for (const Unit& one : kUnits)
    if (error == std::errc() && one.name == unit && number >= 0 && number * one.bytes < 1e18)
      return static_cast<std::uintmax_t>(number * one.bytes);
  throw UsageError(fmt::format("{}: expected a size such as 10GiB or 500MB, got '{}'", flag, text));
}

std::string time_text(fs::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  return fmt::format(
      "{:%Y-%m-%d %H:%M}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(
          std::chrono::time_point_cast<std::chrono::system_clock::duration>(system))));
}

std::string text_at(const Json& about, const char* key) {
  const Json& value = value_at(about, key);
  return value.is_string() ? value.get<std::string>() : "";
}

StoredStage stage_of(const StoreEntry& entry) {
  StoredStage stage{.key = entry.key,
                    .stage = text_at(entry.about, "stage"),
                    .command_line = text_at(entry.about, "command_line"),
                    .bytes = entry.bytes,
                    .files = entry.files,
                    .used = time_text(entry.used)};
  if (const Json& seconds = value_at(entry.about, "seconds"); seconds.is_number())
    stage.seconds = seconds;
  return stage;
}

// Limits, shrinks or empties a store as the arguments ask, and adds what it removes to `removal`.
void tend(Store& store, const CacheArguments& a, StoreRemoval& removal) {
  const auto shrink = [&](std::uintmax_t bytes) {
    const StoreRemoval more = store.shrink_to(bytes);
    removal.entries += more.entries;
    removal.bytes += more.bytes;
    removal.kept.insert(removal.kept.end(), more.kept.begin(), more.kept.end());
  };
  if (!a.limit.empty()) store.set_limit(parse_size("--limit", a.limit));
  if (a.empty) shrink(0);
  if (!a.shrink.empty()) shrink(parse_size("--shrink", a.shrink));
  if (!a.limit.empty()) shrink(store.limit());
}

std::uintmax_t bytes_of(const std::vector<StoreEntry>& entries) {
  std::uintmax_t bytes = 0;
  for (const StoreEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

void cache(CacheArguments& a) {
  const fs::path folder = cache_folder();
  user_check(!folder.empty(), "the cache has no folder; set HOME or XDG_CACHE_HOME");
  if (a.empty && !a.shrink.empty())
    throw UsageError("--empty and --shrink exclude each other; give one of them");
  Store store(folder / "stages"), trials(folder / "trials");
  StoreRemoval removal;
  tend(store, a, removal);
  tend(trials, a, removal);
  print_warnings(make_context(a.run), removal.kept);
  const std::vector<StoreEntry> entries = store.entries(), results = trials.entries();
  CacheFields fields{.folder = store.folder(),
                     .limit_bytes = store.limit(),
                     .bytes = bytes_of(entries),
                     .removed_entries = removal.entries,
                     .removed_bytes = removal.bytes,
                     .kept = removal.kept,
                     .trials = results.size(),
                     .trial_bytes = bytes_of(results)};
  for (const StoreEntry& entry : entries) fields.entries.push_back(stage_of(entry));
  if (a.run.json) return print_result("cache", to_json(fields));
  std::string text = fmt::format("{}: {} stages, {} of at most {}\n", store.folder().string(),
                                 entries.size(), human_bytes(static_cast<double>(fields.bytes)),
                                 human_bytes(static_cast<double>(fields.limit_bytes)));
  text += fmt::format("{}: results of {} trials, {}\n", trials.folder().string(), results.size(),
                      human_bytes(static_cast<double>(fields.trial_bytes)));
  if (removal.entries > 0)
    text += fmt::format("removed: {} of them, {}\n", removal.entries,
                        human_bytes(static_cast<double>(removal.bytes)));
  if (!entries.empty()) text += "\n" + to_text(headed_table(fields.entries), text_style(a.run));
  print_text(a.run, "{}", text);
}

}  // namespace

const Fields& fields_of(const StoredStage*) {
  using S = StoredStage;
  static const Fields fields = describe<S>(
      "stored_stage", "A stage in the store.",
      field<&S::key>("key", "Fingerprint of what it was computed from."),
      field<&S::stage>("stage", "Its name.", "Stage"),
      field<&S::bytes>("bytes", Unit::bytes, "Of its files.", "Size"),
      field<&S::files>("files", "Number of its files."),
      field<&S::seconds>("seconds", Unit::seconds, "How long it took; null: unknown."),
      field<&S::used>("used", "When it was last used, in UTC.", "Last used (UTC)"),
      field<&S::command_line>("command_line", "The command that computed it.", "Command"));
  return fields;
}

const Fields& fields_of(const CacheFields*) {
  using C = CacheFields;
  static const Fields fields = describe<C>(
      "cache",
      "The stores of stages that pipelines have computed, and of trials that searches have run.",
      field<&C::folder>("folder", "Folder of the stages."),
      field<&C::limit_bytes>("limit_bytes", Unit::bytes, "Maximum size."),
      field<&C::bytes>("bytes", Unit::bytes, "Of the stages."),
      field<&C::removed_entries>("removed_entries", "Stages and trials removed by this command."),
      field<&C::removed_bytes>("removed_bytes", Unit::bytes, "Of these."),
      field<&C::kept>("kept", "Entries that were not removed, with the reason."),
      field<&C::trials>("trials", "Stored results of trials."),
      field<&C::trial_bytes>("trial_bytes", Unit::bytes, "Of these."),
      field<&C::entries>("entries", "The stages, the most recently used first."));
  return fields;
}

namespace {

Options options_of(const CacheArguments*) {
  using A = CacheArguments;
  return {
      option<&A::limit>("limit", "set the maximum size of the store, such as 20GiB").shown("SIZE"),
      option<&A::shrink>("shrink", "remove the least recently used entries").shown("SIZE"),
      option<&A::empty>("empty", "remove everything hone stored"),
      group<&A::run>(output_options())};
}

}  // namespace

Command cache_command() {
  return {.name = "cache",
          .summary = "Show, limit or clear the stored results of earlier runs",
          .example = "hone cache",
          .run = runs<CacheArguments, cache>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
