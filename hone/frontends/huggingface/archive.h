#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hone/tensor/device.h"
#include "hone/tensor/dtype.h"
#include "hone/tensor/mapped.h"

/// Zip archives as PyTorch writes them, read from a mapped file: entries stored without compression, as weights
/// normally are, become tensors without a copy. Zip64 and deflated entries are supported; encryption, multiple volumes
/// and other methods are rejected.
namespace hone {

/// One file of an archive, in its packed form.
struct ArchiveEntry {
  std::string_view packed;       ///< its bytes in the mapping
  bool deflated = false;         ///< else `packed` is the content
  std::uint64_t size_bytes = 0;  ///< unpacked, according to the archive
  std::uint32_t crc = 0;         ///< of the content; writers may omit it if nothing is deflated
};

/// The maximum ratio of the content to the size of the file. Weights never come near it; damaged and malicious files
/// far exceed it.
inline constexpr std::uint64_t kMaxExpansion = 16;

using ArchiveEntries = std::map<std::string, ArchiveEntry, std::less<>>;

/// Returns whether `bytes` starts like a zip archive.
bool is_archive(std::string_view bytes);

/// Returns the entries of an archive by name. Throws `UserError` if the archive is damaged, names an entry twice, or
/// would unpack to more than `kMaxExpansion` times its size, like a zip bomb.
ArchiveEntries read_archive(std::string_view bytes);

/// Returns the content of an entry of the archive in `file`, for elements of `dtype`: a view of the mapping if possible
/// (see `storage_in_file`), else new memory. Throws `UserError` if the unpacked content does not match the archive's
/// size or checksum.
StoragePointer unpack(const SharedBytes& file, const ArchiveEntry& entry, DType dtype);

}  // namespace hone
