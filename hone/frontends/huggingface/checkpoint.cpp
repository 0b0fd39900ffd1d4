#include "hone/frontends/huggingface/checkpoint.h"

#include <algorithm>
#include <set>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/git_lfs.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/frontends/huggingface/torch_file.h"
#include "hone/tensor/bitmaps.h"

namespace hone {
namespace {

using ReadFile = Safetensors (*)(const fs::path&);

Safetensors read_safetensors_file(const fs::path& path) { return read_safetensors(path); }
Safetensors read_pickled(const fs::path& path) { return {read_torch_file(path), {}}; }

void refuse_pointer(const fs::path& path) {
  refuse_git_lfs_pointer(path, MappedFile(path).text(), "weights");
}

/// A shard index: the files that contain the tensors.
struct Index {
  std::map<std::string, std::string> file_of;  // by tensor
  std::set<std::string> files;
};

Index read_index(const fs::path& path) {
  const Json json = read_json(path);
  const std::string where = path.string();
  user_check(json.is_object() && json.contains("weight_map") && json["weight_map"].is_object(),
             "{}: expected an object 'weight_map'", where);
  Index index;
  for (const auto& [name, value] : json["weight_map"].items()) {
    user_check(value.is_string(), "{}: weight_map: expected a file name for '{}', got {}", where,
               shown_name(name), value.type_name());
    const auto file = value.get<std::string>();
    const bool plain =
        !file.empty() && file.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
    user_check(plain && file != "." && file != "..",
               "{}: weight_map: expected the name of a file in the same folder for '{}', got '{}'",
               where, shown_name(name), shown_name(file));
    index.file_of[name] = file;
    index.files.insert(file);
  }
  user_check(!index.files.empty(), "{}: weight_map lists no tensors", where);
  return index;
}

Safetensors read_shards(const fs::path& index_path, ReadFile read) {
  const Index index = read_index(index_path);
  TensorMap tensors;
  for (const std::string& file : index.files) {
    const fs::path path = index_path.parent_path() / file;
    user_check(path_exists(path),
               "{}: no such file, but {} lists weights in it; download the whole model",
               path.string(), index_path.filename().string());
    refuse_pointer(path);
    for (auto& [name, tensor] : read(path).tensors) {
      user_check(tensors.emplace(name, std::move(tensor)).second,
                 "{}: tensor '{}' is also in another file of the model", path.string(),
                 shown_name(name));
    }
  }
  for (const auto& [name, file] : index.file_of) {
    user_check(tensors.contains(name), "{}: expected tensor '{}', which {} lists for this file",
               (index_path.parent_path() / file).string(), shown_name(name),
               index_path.filename().string());
  }
  return {std::move(tensors), {}};
}

struct WeightSource {
  std::string_view file;
  bool index;  // lists the files that contain the tensors
  ReadFile read;
};

constexpr WeightSource kWeightSources[] = {
    {kWeightsFile, false, read_safetensors_file},
    {"model.safetensors.index.json", true, read_safetensors_file},
    {"pytorch_model.bin", false, read_pickled},
    {"pytorch_model.bin.index.json", true, read_pickled},
    {kHoneWeightsFile, false, read_safetensors_file},
};

}  // namespace

Checkpoint load_checkpoint(const fs::path& folder) {
  user_check(is_folder(folder), "{}: expected the folder of a model, got {}", folder.string(),
             path_exists(folder) ? "a file" : "nothing there");
  std::string tried_files;
  for (const WeightSource& source : kWeightSources) {
    const fs::path path = folder / source.file;
    tried_files += fmt::format("{}{}", tried_files.empty() ? "" : ", ", source.file);
    if (!path_exists(path)) continue;
    refuse_pointer(path);
    Safetensors read = source.index ? read_shards(path, source.read) : source.read(path);
    const std::size_t saved = with_context(path.string(), [&] { return restore_bitmaps(read); });
    for (auto& [name, tensor] : read.tensors) {
      if (!tensor.contiguous()) tensor = tensor.contiguous_copy();
    }
    return {std::move(read.tensors), std::string(source.file), saved};
  }
  fail("{}: the folder contains no weights; expected one of {}", folder.string(), tried_files);
}

void save_checkpoint(const fs::path& folder, const TensorMap& tensors, const char* file) {
  write_safetensors(folder / file, tensors, {{"format", "pt"}});
}

}  // namespace hone
