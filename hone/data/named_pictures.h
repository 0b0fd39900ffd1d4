#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "hone/base/file.h"
#include "hone/base/thread_pool.h"
#include "hone/data/image_file.h"

/// Images named by the texts of rows.
namespace hone {

/// Returns the `Example::image_hash` of an image. Throws `UserError` if the file cannot be read.
std::uint64_t picture_hash(const fs::path& picture);

/// Computes the fingerprints of the images that all texts name.
template <typename Row>
void hash_pictures(std::span<Row> rows, ThreadPool& pool) {
  constexpr std::int64_t kFilesPerChunk = 64;
  parallel_ranges(
      pool, std::ssize(rows), kFilesPerChunk, [&](std::int64_t begin, std::int64_t end) {
        for (Row& row :
             rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)))
          row.image_hash = picture_hash(row.text);
      });
}

/// If all texts of a table name images (`is_picture_name`), turns them into paths relative to the table's folder and
/// computes the fingerprints.
template <typename Row>
void resolve_picture_paths(const fs::path& table, std::span<Row> rows, ThreadPool& pool) {
  if (!std::ranges::all_of(rows, [](const Row& row) { return is_picture_name(row.text); })) return;
  for (Row& row : rows) row.text = (table.parent_path() / row.text).string();
  hash_pictures(rows, pool);
}

}  // namespace hone
