#include "hone/frontends/huggingface/element_type.h"

#include "hone/frontends/huggingface/module_list.h"

namespace hone {
namespace {

// transformers before 4.56 uses the older name.
constexpr const char *kElementType = "dtype", *kOldElementType = "torch_dtype";

}  // namespace

void name_element_type(Json& config, std::string_view type) {
  config.erase(kOldElementType);
  config[kElementType] = type;
}

void remove_element_type(const fs::path& folder) {
  for (const char* name : kEncoderFiles) {
    if (!path_exists(folder / name)) continue;
    Json file = read_json(folder / name);
    bool changed = false;
    for (const char* arguments : {"model_args", "model_kwargs", "config_args", "config_kwargs"}) {
      if (!file.contains(arguments) || !file[arguments].is_object()) continue;
      for (const char* key : {kElementType, kOldElementType})
        changed = file[arguments].erase(key) > 0 || changed;
    }
    if (changed) write_file(folder / name, to_document(file));
  }
}

}  // namespace hone
