#include "hone/frontends/huggingface/hub_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kModels = "models--";
constexpr std::string_view kSlash = "--";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Names names_in(const fs::path& folder) {
  Names names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string listed(const Names& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::string with_every(std::string text, std::string_view part, std::string_view replacement) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;
       at += replacement.size())
    text.replace(at, part.size(), replacement);
  return text;
}

// Returns the cached models by their hub names.
Names models_in(const fs::path& cache) {
  Names models;
  for (const std::string& name : names_in(cache))
    if (name.starts_with(kModels))
      models.push_back(with_every(name.substr(kModels.size()), kSlash, "/"));
  return models;
}

bool is_path_component(std::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         std::all_of(part.begin(), part.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

bool are_path_components(const std::string& text, std::size_t most) {
  const Names parts = split(text, '/');
  return !parts.empty() && parts.size() <= most &&
         std::all_of(parts.begin(), parts.end(), is_path_component);
}

// Returns the snapshots whose hash starts with `begin`.
Names snapshots_like(const fs::path& snapshots, const std::string& begin) {
  Names found = names_in(snapshots);
  std::erase_if(found, [&](const std::string& hash) { return !hash.starts_with(begin); });
  return found;
}

// Returns the cached models that can be loaded.
Names models_to_open(const fs::path& cache) {
  Names models = models_in(cache);
  std::erase_if(models, [&](const std::string& name) {
    try {
      const Json config = read_json(find_in_hub_cache({name}, cache) / "config.json");
      find_architecture(config.at("model_type").get<std::string>(), name);
      return false;
    } catch (const std::exception&) {
      return true;
    }
  });
  return models;
}

fs::path folder_in(const fs::path& cache, const HubName& name) {
  return cache / (std::string(kModels) + with_every(name.repository, "/", kSlash));
}

// ", nor a folder small" if the parent is also missing.
std::string missing_parent(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code error;
  return parent.empty() || fs::exists(parent, error) ? "" : ", nor a folder " + parent.string();
}

}  // namespace

fs::path hub_cache_folder() {
  if (const std::string cache = environment("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  const std::string caches = environment("XDG_CACHE_HOME");
  const fs::path base =
      caches.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(caches);
  return base / "huggingface" / "hub";
}

std::optional<HubName> parse_hub_name(const std::string& text) {
  const std::size_t at = text.find('@');
  HubName name{text.substr(0, at)};
  if (at != std::string::npos) name.revision = text.substr(at + 1);
  constexpr std::size_t kMaxRevisionDepth = 8;  // "refs/pr/1"
  if (!are_path_components(name.repository, 2) ||
      !are_path_components(name.revision, kMaxRevisionDepth))
    return std::nullopt;
  return name;
}

bool is_in_hub_cache(const HubName& name, const fs::path& cache) {
  std::error_code error;
  return fs::is_directory(folder_in(cache, name), error);
}

fs::path find_in_hub_cache(const HubName& name, const fs::path& cache) {
  const fs::path folder = folder_in(cache, name);
  std::error_code error;
  if (!is_in_hub_cache(name, cache))
    fail(
        "{0}: no such model folder{1}; for a model of the Hugging Face hub, run `hf download {0}` "
        "first, as it is not in the local cache {2}{3}",
        name.repository, missing_parent(name.repository), cache.string(),
        did_you_mean(name.repository, models_to_open(cache)));
  const fs::path snapshots = folder / "snapshots", reference = folder / "refs" / name.revision;
  std::string hash = name.revision;
  if (fs::is_regular_file(reference, error)) hash = trim(read_file(reference));
  const Names found = is_path_component(hash) ? snapshots_like(snapshots, hash) : Names{};
  user_check(!found.empty(),
             "{}: revision '{}' is not in the Hugging Face cache: checked {} and {}; "
             "available: {}. hone downloads nothing: run `hf download {} --revision {}` on "
             "a machine with a network",
             name.repository, name.revision, reference.string(), (snapshots / hash).string(),
             listed(names_in(snapshots)), name.repository, name.revision);
  user_check(found.size() == 1,
             "{}: revision '{}' is ambiguous: it could be {}; give more of the hash",
             name.repository, name.revision, listed(found));
  return snapshots / found[0];
}

}  // namespace hone
