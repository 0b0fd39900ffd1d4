#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Order of a dataset's rows, and their batches. All results depend only on counts, lengths and seeds.
///
///     const auto order = epoch_order(source.size(), seed, epoch, /*shuffle=*/true);
///     for (const auto rows : batches(order, 64)) train_on(source.batch(rows));
namespace hone {

/// Returns the order of `count` examples in epoch `epoch`: 0, 1, … or, with `shuffle`, a permutation that depends only
/// on count, seed and epoch.
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle);

/// Returns `most` of `count` rows (all, if there are fewer) in a random order that depends only on count, seed and
/// purpose. A smaller sample is a prefix of a larger one.
std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                      std::string_view purpose);

/// Cuts `order` into batches of `batch_size`; the last may be shorter. The spans point into `order`. Throws `UserError`
/// for a size below 1.
std::vector<std::span<const std::int64_t>> batches(std::span<const std::int64_t> order,
                                                   std::int64_t batch_size);

/// Reorders `order` so that rows of similar length share a batch, which reduces padding: sorts every 50 batches by
/// length, then shuffles the batches by seed and epoch. Like Hugging Face's `group_by_length`. `lengths`: per row
/// number.
void group_by_length(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                     std::uint64_t seed, std::int64_t epoch, std::vector<std::int64_t>& order);

/// Returns the greatest length of `rows`; 0 without rows.
std::int64_t longest(std::span<const std::int64_t> lengths, std::span<const std::int64_t> rows);

/// Returns the share of padding, in [0, 1), in batches of `order`.
double padding_share(std::span<const std::int64_t> lengths, std::span<const std::int64_t> order,
                     std::int64_t batch_size);

}  // namespace hone
