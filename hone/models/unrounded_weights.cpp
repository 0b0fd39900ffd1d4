#include "hone/models/unrounded_weights.h"

#include <cstring>

#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const auto x = std::as_bytes(a.values<float>()), y = std::as_bytes(b.values<float>());
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

}  // namespace

bool write_unrounded(const Model& unrounded, const Model& rounded, const fs::path& folder) {
  TensorMap tensors;
  for (const Node* parameter : unrounded.graph.of_kind(NodeKind::parameter)) {
    if (parameter->types()[0].dtype != DType::f32) continue;
    const Tensor before = dense_on(unrounded.parameters.at(parameter->name()), cpu()),
                 after = dense_on(rounded.parameters.at(parameter->name()), cpu());
    if (!same_bits(before, after)) tensors.emplace(parameter->name(), before);
  }
  if (!tensors.empty()) save_checkpoint(folder, tensors, kUnroundedFile);
  return !tensors.empty();
}

bool load_unrounded(Model& model, const fs::path& folder) {
  const fs::path file = folder / kUnroundedFile;
  if (folder.empty() || !path_exists(file)) return false;
  for (const auto& [name, tensor] : read_safetensors(file).tensors) {
    const Node* parameter = model.graph.find(name);
    user_check(parameter != nullptr && parameter->kind() == NodeKind::parameter &&
                   tensor.dtype() == parameter->types()[0].dtype &&
                   tensor.sizes() == resolve(parameter->types()[0].shape, {}),
               "{}: {} is not a weight of the model in the same folder, so the files do not "
               "match; remove {} to continue from the rounded weights",
               file.string(), name, kUnroundedFile);
    model.parameters.set(name, tensor);
  }
  const std::string broken = model.parameters.first_not_finite();
  user_check(broken.empty(), "{}: {} has values that are NaN or infinite", file.string(), broken);
  return true;
}

}  // namespace hone
