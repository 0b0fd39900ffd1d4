#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"

/// modules.json of sentence-transformers: what a text goes through, one module after the other, and the folders that they
/// are kept in.
namespace hone {

inline constexpr const char* kModulesFile = "modules.json";
/// What prompts there are, and which similarity the vectors are made for.
inline constexpr const char* kPromptsFile = "config_sentence_transformers.json";
/// Of the encoder, in its folder. Older programs named the file after the architecture.
inline constexpr const char* kEncoderFiles[] = {
    "sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json"};

/// What a JSON file says; none where there is no such file.
using JsonReader = std::function<std::optional<Json>(const fs::path&)>;
/// That of files.
JsonReader json_reader();

struct ListedModule {
  std::string type;  ///< whole: "sentence_transformers.models.Pooling"
  fs::path folder;   ///< in that of the model; empty: that one itself

  /// "Pooling"
  std::string_view name() const;
  bool is_encoder() const { return name() == "Transformer"; }
};

/// The modules that the folder of a model lists, in their order; none where there is no list. Throws `UserError` with the
/// path for what is no list of modules, and for folders outside of that of the model.
std::vector<ListedModule> read_module_list(const fs::path& folder, const JsonReader& read);

/// What config_sentence_transformers.json in the folder of a model says, an object, where
/// sentence-transformers reads it for a model of the class `model_type`: beside a modules.json, and
/// where the file names that class or none (SentenceTransformer). None elsewhere. Throws `UserError`
/// with the path for a file that is no object.
std::optional<Json> read_sentence_settings(const fs::path& folder, std::string_view model_type,
                                           const JsonReader& read);

/// The text of "prompts" that "default_prompt_name" names in such settings, which were read from
/// `file`; empty where none is named.
std::string default_prompt(const Json& settings, const fs::path& file);

/// Where the encoder of such a list is, or of no list: `folder` itself, unless it says otherwise.
fs::path encoder_folder(const fs::path& folder, const std::vector<ListedModule>& modules);

/// Writes the list, the folders of all modules but the encoder, whatever they hold, and what is said of the texts of all
/// into `output`, where the encoder stands at the top now. Nothing where `folder` has no list. Returns the paths in `output`.
std::vector<std::string> copy_modules(const fs::path& folder, const fs::path& output);

}  // namespace hone
