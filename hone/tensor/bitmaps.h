#pragma once

#include "hone/tensor/safetensors.h"

/// Tensors that repeat one word, such as pruned weights and their codes, as files store them: a bit for each word, set where the
/// word is stored, and the stored words. 80% zeros in blocks of 1x4 leave 23% of int8 codes.
///
///     store_bitmaps(file);    // "w" becomes "w.bitmap" and "w.words"
///     restore_bitmaps(file);  // and "w" again, the same bytes
namespace hone {

/// Replaces each contiguous tensor on the host that this makes smaller by an eighth at least by NAME.bitmap, u8 (words / 8), the
/// first word in the lowest bit, and NAME.words, u8. Words have 1, 2 or 4 bytes, whichever takes the least. The metadata lists
/// the tensors as "bitmaps": a JSON object with the `dtype`, the `shape`, the bytes of a `word`, the byte that `fill`s
/// missing words, and whether the `halves` of bytes were taken apart first: of every four bytes the lower halves, then the upper ones. Returns the bytes that this saved.
std::size_t store_bitmaps(Safetensors& file);

/// The inverse. Returns the bytes that were saved; 0: no tensor was stored this way. Throws `UserError` naming the tensor where
/// bitmap, words and metadata do not fit each other.
std::size_t restore_bitmaps(Safetensors& file);

}  // namespace hone
