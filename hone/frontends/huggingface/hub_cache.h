#pragma once

#include <optional>
#include <string>

#include "hone/base/file.h"

/// Models that Hugging Face's own tools have fetched on this machine (the layout is described in
/// "Understand caching", huggingface_hub's guides):
///
///     CACHE/models--prajjwal1--bert-tiny/refs/main            the hash of the snapshot
///                                        snapshots/HASH/…     links to the files
namespace hone {

/// Where the cache is: $HF_HUB_CACHE, else $HF_HOME/hub, else huggingface/hub in $XDG_CACHE_HOME or
/// in ~/.cache.
fs::path hub_cache_folder();

/// A model as the hub names it: "prajjwal1/bert-tiny", "bert-base-uncased@v1.0".
struct HubName {
  std::string repository;         ///< one or two parts
  std::string revision = "main";  ///< a branch, a tag, or a hash or its beginning
};

/// Nothing when the text cannot be such a name.
std::optional<HubName> parse_hub_name(const std::string& text);

/// Whether some revision of the model is in the cache.
bool is_in_hub_cache(const HubName& name, const fs::path& cache);

/// The folder of the snapshot in the cache `cache`. Throws `UserError` with the path that was looked
/// at: the model is not there, nor the revision; a hash that begins like several.
fs::path find_in_hub_cache(const HubName& name, const fs::path& cache);

}  // namespace hone
