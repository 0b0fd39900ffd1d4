#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// In which order the rows of a data set are taken, and which of them share a batch. All of it is a function of counts, lengths
/// and seeds.
///
///     const auto order = epoch_order(source.size(), seed, epoch, /*shuffle=*/true);
///     for (const auto rows : batches(order, 64)) train_on(source.batch(rows));
namespace hone {

/// The order in which epoch `epoch` sees `count` examples: 0, 1, … or, with `shuffle`, a
/// permutation that depends on count, seed and epoch alone.
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle);

/// `most` of `count` rows (all, if there are fewer) in a random order that depends on count, seed and purpose alone. A
/// smaller sample is the beginning of a greater one.
std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                      std::string_view purpose);

/// `order` cut into stretches of `batch_size`; the last may be shorter. The spans point into
/// `order`. Throws `UserError` for a size below 1.
std::vector<std::span<const std::int64_t>> batches(std::span<const std::int64_t> order,
                                                   std::int64_t batch_size);

/// Rearranges `order` so that rows of like length share a batch and little is padded: stretches of 50 batches are sorted
/// by length, then their batches shuffled by seed and epoch. The counterpart of Hugging Face's `group_by_length`.
/// `lengths`: of all rows, by number.
void group_by_length(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                     std::uint64_t seed, std::int64_t epoch, std::vector<std::int64_t>& order);

/// The longest of `rows`; 0 without any.
std::int64_t longest(std::span<const std::int64_t> lengths, std::span<const std::int64_t> rows);

/// Share of padding in the batches that `order` is cut into, in [0, 1): work that is thrown away.
double padding_share(std::span<const std::int64_t> lengths, std::span<const std::int64_t> order,
                     std::int64_t batch_size);

}  // namespace hone
