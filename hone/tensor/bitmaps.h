#pragma once

#include "hone/tensor/safetensors.h"

/// Compact storage for tensors that repeat one word, such as pruned weights and their codes: a bitmap with a bit for
/// each stored word, and the stored words. With 80% zeros in blocks of 1x4, int8 codes shrink to 23%.
///
///     store_bitmaps(file);    // "w" becomes "w.bitmap" and "w.words"
///     restore_bitmaps(file);  // and "w" again, the same bytes
namespace hone {

/// Replaces each contiguous host tensor that shrinks by at least an eighth by NAME.bitmap, u8 (words / 8), with the
/// first word in the lowest bit, and NAME.words, u8. Words have 1, 2 or 4 bytes, whichever takes the least. The
/// metadata lists the tensors as "bitmaps": a JSON object with the `dtype`, the `shape`, the size of a `word` in bytes,
/// the byte that `fill`s missing words, and whether the `halves` of bytes were separated first: for every four bytes
/// the lower halves, then the upper ones. Returns the number of bytes saved.
std::size_t store_bitmaps(Safetensors& file);

/// The inverse. Returns the number of bytes saved by this storage; 0: no tensor was stored this way. Throws `UserError`
/// naming the tensor if bitmap, words and metadata are inconsistent.
std::size_t restore_bitmaps(Safetensors& file);

}  // namespace hone
