#include "hone/data/row_order.h"

#include <algorithm>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/random.h"

namespace hone {

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (shuffle)
    RandomSequence(seed, stream_of("epoch order") + static_cast<std::uint64_t>(epoch))
        .shuffle(order);
  return order;
}

std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                      std::string_view purpose) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RandomSequence(seed, stream_of(purpose)).shuffle(order);
  order.resize(static_cast<std::size_t>(std::min(most, count)));
  return order;
}

std::vector<std::span<const std::int64_t>> batches(std::span<const std::int64_t> order,
                                                   std::int64_t batch_size) {
  user_check(batch_size >= 1, "batch size: expected at least 1, got {}", batch_size);
  std::vector<std::span<const std::int64_t>> result;
  const auto size = static_cast<std::size_t>(batch_size);
  for (std::size_t begin = 0; begin < order.size(); begin += size) {
    result.push_back(order.subspan(begin, std::min(size, order.size() - begin)));
  }
  return result;
}

void group_by_length(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                     std::uint64_t seed, std::int64_t epoch, std::vector<std::int64_t>& order) {
  constexpr std::int64_t kBatchesPerStretch = 50;
  RandomSequence random(seed, stream_of("length groups") + static_cast<std::uint64_t>(epoch));
  std::vector<std::int64_t> grouped;
  for (const std::span<const std::int64_t> stretch :
       batches(order, kBatchesPerStretch * batch_size)) {
    std::vector<std::int64_t> rows(stretch.begin(), stretch.end());
    std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
      return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
    });
    std::vector<std::span<const std::int64_t>> groups = batches(rows, batch_size);
    // A shorter batch stays last: all others must begin at multiples of the batch size.
    const auto whole =
        static_cast<std::size_t>(static_cast<std::int64_t>(rows.size()) / batch_size);
    std::vector<std::span<const std::int64_t>> shuffled(
        groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(whole));
    random.shuffle(shuffled);
    shuffled.insert(shuffled.end(), groups.begin() + static_cast<std::ptrdiff_t>(whole),
                    groups.end());
    for (const auto& group : shuffled) grouped.insert(grouped.end(), group.begin(), group.end());
  }
  order = std::move(grouped);
}

std::int64_t longest(std::span<const std::int64_t> lengths, std::span<const std::int64_t> rows) {
  std::int64_t most = 0;
  for (const std::int64_t row : rows) most = std::max(most, lengths[static_cast<std::size_t>(row)]);
  return most;
}

double padding_share(std::span<const std::int64_t> lengths, std::span<const std::int64_t> order,
                     std::int64_t batch_size) {
  std::int64_t text = 0;
  std::int64_t all = 0;
  for (const std::span<const std::int64_t> rows : batches(order, batch_size)) {
    for (const std::int64_t row : rows) text += lengths[static_cast<std::size_t>(row)];
    all += longest(lengths, rows) * static_cast<std::int64_t>(rows.size());
  }
  return all == 0 ? 0 : 1 - static_cast<double>(text) / static_cast<double>(all);
}

}  // namespace hone
