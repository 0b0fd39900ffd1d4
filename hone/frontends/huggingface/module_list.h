#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"

/// modules.json of sentence-transformers: the modules that process a text, in order, and their folders.
namespace hone {

inline constexpr const char* kModulesFile = "modules.json";
/// Lists the prompts, and the similarity function that the vectors were trained for.
inline constexpr const char* kPromptsFile = "config_sentence_transformers.json";
/// Files of the encoder, in its folder. Older programs named the file after the architecture.
inline constexpr const char* kEncoderFiles[] = {
    "sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json"};

/// Returns the content of a JSON file, or nothing if it does not exist.
using JsonReader = std::function<std::optional<Json>(const fs::path&)>;
/// Returns a reader of files on disk.
JsonReader json_reader();

struct ListedModule {
  std::string type;  ///< full name: "sentence_transformers.models.Pooling"
  fs::path folder;   ///< relative to the model's; empty: the same folder

  /// "Pooling"
  std::string_view name() const;
  bool is_encoder() const { return name() == "Transformer"; }
};

/// Returns the modules listed in the folder of a model, in order, or nothing if there is no list. Throws `UserError`
/// with the path for an invalid list, and for folders outside the model's.
std::vector<ListedModule> read_module_list(const fs::path& folder, const JsonReader& read);

/// Returns the content of config_sentence_transformers.json, an object, if sentence-transformers would read it for a
/// model of the class `model_type`: next to a modules.json, and if the file names that class or none
/// (SentenceTransformer). Otherwise returns nothing. Throws `UserError` with the path for a file that is not an object.
std::optional<Json> read_sentence_settings(const fs::path& folder, std::string_view model_type,
                                           const JsonReader& read);

/// Returns the text in "prompts" that "default_prompt_name" of such settings selects, or "" if none is selected. `file`
/// is their path, for messages.
std::string default_prompt(const Json& settings, const fs::path& file);

/// Returns the folder of the encoder: `folder` itself, unless the list names another one.
fs::path encoder_folder(const fs::path& folder, const std::vector<ListedModule>& modules);

/// Copies the list, the folders of all modules except the encoder, and the files about texts into `output`, where the
/// encoder is now at the top level. Does nothing if `folder` has no list. Returns the paths relative to `output`.
std::vector<std::string> copy_modules(const fs::path& folder, const fs::path& output);

}  // namespace hone
