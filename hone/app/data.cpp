#include "hone/app/data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/base/random.h"
#include "hone/base/text.h"

namespace hone {

Splits split(DataSet data, const SplitOptions& options) {
  user_check(options.validation_split >= 0 && options.validation_split < 1,
             "--validation_split: expected a share of at least 0 and below 1, got {}",
             options.validation_split);
  Splits splits;
  const auto count = static_cast<std::size_t>(
      std::llround(options.validation_split * static_cast<double>(data.train.size())));
  std::vector<std::size_t> order(data.train.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomSequence(options.seed, stream_of("validation split")).shuffle(order);
  std::vector<char> chosen(data.train.size(), 0);
  for (std::size_t i = 0; i < count; ++i) chosen[order[i]] = 1;
  std::vector<Example> train;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    (chosen[i] != 0 ? splits.validation : train).push_back(std::move(data.train[i]));
  }
  data.train = std::move(train);
  splits.source = std::move(data);
  return splits;
}

const std::vector<Example>& part(const Splits& splits, const std::string& name) {
  const std::pair<std::string_view, const std::vector<Example>*> parts[] = {
      {"test", &splits.source.test},
      {"validation", &splits.validation},
      {"train", &splits.source.train}};
  for (const auto& [part_name, examples] : parts) {
    if (name.empty() ? examples->empty() : part_name != name) continue;
    user_check(!examples->empty(), "{}: the {} split is empty", splits.source.description, name);
    return *examples;
  }
  user_check(name.empty(), "--split: expected train, validation or test, got '{}'", name);
  fail("{}: there are no examples", splits.source.description);
}

std::size_t text_limit(std::int64_t max_seq_length, std::int64_t positions) {
  const std::int64_t wanted = max_seq_length > 0 ? max_seq_length : 512;
  return static_cast<std::size_t>(std::min(wanted, positions));
}

}  // namespace hone
