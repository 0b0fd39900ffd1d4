#include "hone/frontends/huggingface/weight_matcher.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Rejects NaN and infinities, which would propagate to all results.
void check_finite(const Tensor& tensor, std::string_view source, std::string_view name) {
  const std::span<const float> values = tensor.values<float>();
  const auto odd = [](float value) {
    constexpr std::uint32_t kExponent = 0x7f800000;
    return (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent;
  };
  std::int64_t count = 0;
  for (const float value : values) count += odd(value) ? 1 : 0;
  if (count == 0) return;
  const auto first = std::find_if(values.begin(), values.end(), odd);
  fail(
      "{}: tensor {} has {}, the first at index {}: {}; training diverged or the "
      "file is damaged; use another checkpoint",
      source, name,
      count == 1 ? "1 value that is not a number"
                 : fmt::format("{} values that are not numbers", count),
      first - values.begin(), *first);
}

// Looks up a parameter's name, then the name without the encoder's prefix.
template <typename Tensors>
auto find_tensor(Tensors& tensors, const std::string& name, const std::string& prefix) {
  const auto found = tensors.find(name);
  if (found != tensors.end() || !name.starts_with(prefix)) return found;
  return tensors.find(name.substr(prefix.size()));
}

}  // namespace

WeightMatcher::WeightMatcher(const Architecture& arch, TensorMap tensors, std::string source,
                             std::string required_by)
    : prefix_(fmt::format("{}.", arch.encoder.name)),
      classes_(fmt::format("{}.", arch.head.classes)),
      source_(std::move(source)),
      required_by_(std::move(required_by)),
      checkpoint_(parameter_names(std::move(tensors), source_, arch.encoder.name, arch.landmark)) {
  for (const std::string_view buffer : arch.buffers)
    std::erase_if(checkpoint_.tensors, [&](const auto& item) {
      return glob_match(buffer, item.first) || glob_match(buffer, prefix_ + item.first);
    });
}

Tensor WeightMatcher::take(const Node& parameter) {
  const auto found = find_tensor(checkpoint_.tensors, parameter.name(), prefix_);
  if (found == checkpoint_.tensors.end()) return {};
  const Sizes expected = resolve(parameter.types()[0].shape, {});
  user_check(found->second.sizes() == expected, "{}: tensor {} has the shape {}, {} needs {}",
             source_, found->first, to_string(found->second.sizes()), required_by_,
             to_string(expected));
  const DType wanted = parameter.types()[0].dtype, given = found->second.dtype();
  const bool floating = info(wanted).floating;
  user_check(floating ? info(given).floating : given == wanted,
             "{}: tensor {} has elements of type {}, expected {}", source_, found->first,
             info(given).name, floating ? "floating point" : info(wanted).name);
  const Tensor cast = found->second.cast(wanted);
  Tensor values = cast.contiguous() ? cast : cast.contiguous_copy();
  if (wanted == DType::f32) check_finite(values, source_, found->first);
  checkpoint_.tensors.erase(found);
  return values;
}

void WeightMatcher::mark_used(const Node& parameter) {
  const auto found = find_tensor(checkpoint_.tensors, parameter.name(), prefix_);
  if (found != checkpoint_.tensors.end()) checkpoint_.tensors.erase(found);
}

Tensor WeightMatcher::mask_of(const Node& parameter) const {
  const auto found = find_tensor(checkpoint_.masks, parameter.name(), prefix_);
  return found == checkpoint_.masks.end() ? Tensor() : found->second;
}

bool WeightMatcher::has_head_of_other_size(std::int64_t classes) const {
  const auto found = checkpoint_.tensors.find(classes_ + "weight");
  return found != checkpoint_.tensors.end() && found->second.rank() > 0 &&
         found->second.size(0) != classes;
}

std::vector<std::string> WeightMatcher::drop_head() {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : checkpoint_.tensors)
    if (name.starts_with(classes_)) names.push_back(name);
  for (const std::string& name : names) {
    checkpoint_.tensors.erase(name);
    checkpoint_.masks.erase(name);
  }
  return names;
}

std::string list_some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
    shown.push_back(shown_name(names[i]));
  const std::string more =
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

std::vector<std::string> WeightMatcher::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : checkpoint_.tensors) names.push_back(name);
  return names;
}

}  // namespace hone
