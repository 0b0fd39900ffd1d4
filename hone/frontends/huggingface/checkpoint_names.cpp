#include "hone/frontends/huggingface/checkpoint_names.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kWrappers[] = {"module", "_orig_mod", "_fsdp_wrapped_module",
                                          "_checkpoint_wrapped_module", "_forward_module"};
constexpr std::string_view kPruned = "_orig", kMaskOfPruned = "_mask";

bool is_wrapper(std::string_view module) {
  return std::ranges::find(kWrappers, module) != std::end(kWrappers);
}

// "LayerNorm.gamma" of old checkpoints is now "LayerNorm.weight".
std::string modern_name(std::string name) {
  const auto replace_suffix = [&](std::string_view old_suffix, std::string_view new_suffix) {
    if (name.ends_with(old_suffix))
      name.replace(name.size() - old_suffix.size(), old_suffix.size(), new_suffix);
  };
  replace_suffix(".gamma", ".weight");
  replace_suffix(".beta", ".bias");
  return name;
}

/// Renames the tensors of one file, step by step.
class Renamer {
 public:
  Renamer(TensorMap tensors, std::string source)
      : source_(std::move(source)), result_{.tensors = std::move(tensors)} {}

  void remove_wrappers() {
    std::vector<std::string> removed;
    for (const auto& [name, tensor] : result_.tensors)
      for (const std::string& module : split(name, '.'))
        if (is_wrapper(module) && std::ranges::find(removed, module) == removed.end())
          removed.push_back(module);
    if (removed.empty()) return;
    rename(result_.tensors, unwrapped_name);
    note(fmt::format("'{}.'", fmt::join(removed, ".' and '")));
  }

  void join_masks() {
    std::vector<std::string> pruned;
    for (const auto& [name, tensor] : result_.tensors)
      if (name.ends_with(kPruned)) pruned.push_back(name.substr(0, name.size() - kPruned.size()));
    for (const std::string& name : pruned) join_mask(name);
  }

  void modernise() {
    rename(result_.tensors, modern_name);
    rename(result_.masks, modern_name);
  }

  // Removes what precedes the landmark if it precedes every name.
  void remove_prefix(std::string_view encoder, std::string_view landmark) {
    const std::string whole = fmt::format("{}.{}", encoder, landmark);
    std::optional<std::string> found = prefix_of(whole);
    if (!found) found = prefix_of(landmark);
    const std::string prefix = found.value_or("");
    const bool shared = std::ranges::all_of(
        result_.tensors, [&](const auto& item) { return item.first.starts_with(prefix); });
    if (prefix.empty() || !shared) return;
    const auto without = [&](const std::string& name) { return name.substr(prefix.size()); };
    rename(result_.tensors, without);
    rename(result_.masks, without);
    note(fmt::format("'{}'", shown_name(prefix)));
  }

  NamedCheckpoint result() && { return std::move(result_); }

 private:
  void note(const std::string& removed) {
    result_.notes.push_back(
        fmt::format("{}: tensor names are read without {}, which a wrapper of the model added",
                    source_, removed));
  }

  template <typename Change>
  void rename(TensorMap& tensors, Change change) {
    TensorMap renamed;
    std::map<std::string, std::string> old_names;
    for (auto& [name, tensor] : tensors) {
      const std::string wanted = change(name);
      const auto [first, is_new] = old_names.emplace(wanted, name);
      user_check(is_new, "{}: the tensors {} and {} are both the parameter {}; keep one of them",
                 source_, shown_name(first->second), shown_name(name), shown_name(wanted));
      renamed.emplace(wanted, std::move(tensor));
    }
    tensors = std::move(renamed);
  }

  Tensor take(const std::string& name, const std::string& pruned) {
    const auto found = result_.tensors.find(name);
    user_check(found != result_.tensors.end(),
               "{}: tensor {} is missing, the mask of {} by torch.nn.utils.prune; save the whole "
               "state_dict(), or remove the pruning with prune.remove() before saving",
               source_, shown_name(name), shown_name(pruned));
    const Tensor tensor = found->second;
    result_.tensors.erase(found);
    return tensor.cast(DType::f32).contiguous_copy();
  }

  void join_mask(const std::string& name) {
    const std::string original = fmt::format("{}{}", name, kPruned),
                      mask = fmt::format("{}{}", name, kMaskOfPruned);
    Tensor values = take(original, original);
    const Tensor given = take(mask, original);
    user_check(values.sizes() == given.sizes(), "{}: tensor {} has the shape {}, {} has {}",
               source_, shown_name(mask), to_string(given.sizes()), shown_name(original),
               to_string(values.sizes()));
    user_check(!result_.tensors.contains(name),
               "{}: the file contains both {} and {}; keep one of them", source_, shown_name(name),
               shown_name(original));
    Tensor kept = Tensor::empty(DType::boolean, given.sizes());
    for (std::int64_t i = 0; i < given.count(); ++i) {
      const float factor = given.data<float>()[i];
      user_check(factor == 0 || factor == 1, "{}: tensor {} has the value {}; expected 0 or 1",
                 source_, shown_name(mask), factor);
      kept.data<bool>()[i] = factor == 1;
      values.data<float>()[i] *= factor;
    }
    result_.tensors.emplace(name, std::move(values));
    result_.masks.emplace(name, std::move(kept));
  }

  // Returns what precedes `names` in the only tensor name that ends with it; "" if there are several.
  std::optional<std::string> prefix_of(std::string_view names) const {
    std::optional<std::string> prefix;
    for (const auto& [name, tensor] : result_.tensors) {
      if (!name.ends_with(names)) continue;
      std::string front = name.substr(0, name.size() - names.size());
      if (!front.empty() && front.back() != '.') continue;
      if (prefix) return "";
      prefix = std::move(front);
    }
    return prefix;
  }

  std::string source_;
  NamedCheckpoint result_;
};

}  // namespace

std::string unwrapped_name(std::string_view name) {
  std::vector<std::string> modules = split(name, '.');
  std::erase_if(modules, is_wrapper);
  return fmt::format("{}", fmt::join(modules, "."));
}

NamedCheckpoint parameter_names(TensorMap tensors, const std::string& source,
                                std::string_view encoder, std::string_view landmark) {
  Renamer renamer(std::move(tensors), source);
  renamer.remove_wrappers();
  renamer.join_masks();
  renamer.modernise();
  renamer.remove_prefix(encoder, landmark);
  return std::move(renamer).result();
}

}  // namespace hone
