#pragma once

#include <optional>
#include <string>

#include "hone/base/file.h"

/// Models that Hugging Face's tools have downloaded to this machine (layout: "Understand caching" in the
/// huggingface_hub guides):
///
///     CACHE/models--prajjwal1--bert-tiny/refs/main            the hash of the snapshot
///                                        snapshots/HASH/…     links to the files
namespace hone {

/// Returns the path of the cache: $HF_HUB_CACHE, else $HF_HOME/hub, else huggingface/hub in $XDG_CACHE_HOME or in
/// ~/.cache.
fs::path hub_cache_folder();

/// The name of a model on the hub: "prajjwal1/bert-tiny", "bert-base-uncased@v1.0".
struct HubName {
  std::string repository;         ///< one or two components
  std::string revision = "main";  ///< a branch, a tag, or a hash or its prefix
};

/// Returns nothing if the text cannot be such a name.
std::optional<HubName> parse_hub_name(const std::string& text);

/// Returns whether any revision of the model is in the cache.
bool is_in_hub_cache(const HubName& name, const fs::path& cache);

/// Returns the snapshot's folder in `cache`. Throws `UserError` with the path searched if the model or the revision is
/// missing, or the hash prefix is ambiguous.
fs::path find_in_hub_cache(const HubName& name, const fs::path& cache);

}  // namespace hone
