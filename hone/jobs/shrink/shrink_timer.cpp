#include "hone/jobs/shrink/shrink_timer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/metrics/median.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kMaxBatchSize = 32, kRounds = kShrinkTimerRounds;
constexpr double kMostMs = 250;

// Replaces layer numbers and cuts off suffixes of codes and scales: the kind is the same in every layer and format.
std::string kind_of_tensor(const std::string& name) {
  constexpr std::string_view kOfFormats[] = {"codes", "shared", "quantizer", "bitmap", "words"};
  std::vector<std::string> kind;
  const std::vector<std::string> parts = split(name, '.');
  for (const std::string& part : parts) {
    if (std::ranges::find(kOfFormats, part) != std::end(kOfFormats)) break;
    const bool is_number = part.find_first_not_of("0123456789") == std::string::npos;
    kind.push_back(is_number ? "*" : part);
  }
  return fmt::format("{}", fmt::join(kind, "."));
}

}  // namespace

ShrinkTimer::ShrinkTimer(const Model& original, const EncodedSet& texts, const EncodedSet& own,
                         Context& context)
    : context_(context),
      original_bytes_(stored_bytes(original)),
      original_(forward_graph(original), original.parameters, context.session()) {
  single_inputs_ = batch(texts, 1);
  const auto median = [&](const NamedTensors& texts) {
    const std::function<void()> works[] = {[&] { original_.rows(texts); }};
    run_preparation(works, context.session().device);
    return median_of_sorted(runs_ms(works[0], kRounds));
  };
  const auto most = static_cast<std::int64_t>(kMostMs / std::max(median(single_inputs_), 1e-3));
  batch_size_ = std::clamp<std::int64_t>(most, 1, std::min(kMaxBatchSize, texts.size()));
  batch_inputs_ = batch(texts, batch_size_);
  own_batch_inputs_ = batch(own, batch_size_);
  own_single_inputs_ = batch(own, 1);
  ms_ = median(batch_inputs_) / static_cast<double>(batch_size_);
}

NamedTensors ShrinkTimer::batch(const EncodedSet& set, std::int64_t count) const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return text_examples(set).batch(rows, 0);
}

ShrinkTimer::Times ShrinkTimer::times(const Model& model, std::int64_t rounds) {
  Predictor own(forward_graph(model), model.parameters, context_.session());
  // All take turns. Otherwise one burst of other load would spoil all rounds of single texts, a few milliseconds.
  const std::function<void()> works[] = {
      [&] { original_.rows(batch_inputs_); }, [&] { original_.rows(single_inputs_); },
      [&] { own.rows(own_batch_inputs_); }, [&] { own.rows(own_single_inputs_); }};
  run_preparation(works, context_.session().device);
  const auto ms = rounds_in_turn(works, rounds);
  // The median ratio of paired rounds, like the speedup of the result.
  const auto share = [&](std::size_t work) {
    const Speedup ratio = speedup_of(ms[work + 2], ms[work]);
    return LatencyShare{ratio.value, ratio.interval};
  };
  return {share(0), share(1)};
}

double ShrinkTimer::seconds(std::int64_t rounds) const {
  constexpr double kModels = 2, kUncounted = 2;
  return kModels *
         (static_cast<double>(rounds) + kUncounted + preparation_runs(context_.session().device)) *
         static_cast<double>(batch_size_ + 1) * ms_ / 1000;
}

BytesByKind ShrinkTimer::stored(const Model& model) const {
  BytesByKind shares;
  for (const auto& [name, bytes] : stored_tensor_bytes(model))
    shares[kind_of_tensor(name)] +=
        static_cast<double>(bytes) / static_cast<double>(original_bytes_);
  return shares;
}

}  // namespace hone
