#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hone/tensor/device.h"
#include "hone/tensor/dtype.h"
#include "hone/tensor/mapped.h"

/// Zip archives as PyTorch writes them: read from a mapped file, so that entries stored without
/// compression, the rule for weights, become tensors without a copy. Zip64 and deflated entries are
/// understood; encryption, several volumes and other methods are refused.
namespace hone {

/// One file of an archive, still packed.
struct ArchiveEntry {
  std::string_view packed;       ///< its bytes in the mapping
  bool deflated = false;         ///< else `packed` is the content
  std::uint64_t size_bytes = 0;  ///< unpacked, as the archive says
  std::uint32_t crc = 0;  ///< of the content; writers may leave it out where nothing is deflated
};

/// How many times the size of a file its content may take: no weights come near it, damaged and
/// malicious files go far beyond.
inline constexpr std::uint64_t kMaxExpansion = 16;

using ArchiveEntries = std::map<std::string, ArchiveEntry, std::less<>>;

/// Whether `bytes` begin as a zip archive does.
bool is_archive(std::string_view bytes);

/// The entries of an archive by name. Throws `UserError` when the archive is damaged, names an
/// entry twice, or would unpack to more than `kMaxExpansion` times its size, as a zip
/// bomb must.
ArchiveEntries read_archive(std::string_view bytes);

/// The content of an entry of the archive in `file`, for elements of `dtype`: a view of the mapping
/// where possible (see `storage_in_file`), else fresh memory. Throws `UserError` when it does not
/// unpack to what the archive says.
StoragePointer unpack(const SharedBytes& file, const ArchiveEntry& entry, DType dtype);

}  // namespace hone
