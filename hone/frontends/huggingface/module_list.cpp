#include "hone/frontends/huggingface/module_list.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/git_lfs.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Returns sentence-transformers' usual folder name, such as "1_Pooling", whatever the current name is.
std::string usual_folder(std::size_t number, const ListedModule& module) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain = std::ranges::all_of(module.name(), is_letter);
  return fmt::format("{}_{}", number, plain ? module.name() : "Module");
}

// Returns the files under a folder as relative paths. Those of the hub cache are links.
std::vector<fs::path> all_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(error)) files.push_back(entry->path().lexically_relative(folder));
  std::ranges::sort(files);
  return files;
}

std::string fetched(const fs::path& file) {
  std::string content = read_file(file);
  refuse_git_lfs_pointer(file, content, "the contents of the file");
  return content;
}

// The activation of a cross-encoder is written to its config.json, which is kept up to date (see score_activation.h);
// this file would override it.
std::string without_activation(const std::string& settings) {
  Json content = parse_json(settings, kPromptsFile);
  return content.is_object() && content.erase("activation_fn") > 0 ? to_document(content)
                                                                   : settings;
}

}  // namespace

JsonReader json_reader() {
  return [](const fs::path& path) {
    return path_exists(path) ? std::optional(read_json(path)) : std::nullopt;
  };
}

std::string_view ListedModule::name() const {
  const std::size_t dot = type.rfind('.');
  return dot == std::string::npos ? std::string_view(type) : std::string_view(type).substr(dot + 1);
}

std::vector<ListedModule> read_module_list(const fs::path& folder, const JsonReader& read) {
  const fs::path path = folder / kModulesFile;
  const std::optional<Json> list = read(path);
  if (!list) return {};
  user_check(list->is_array(), "{}: expected a list of modules, got {}", path.string(),
             list->type_name());
  user_check(!list->empty(), "{}: expected a list of modules, got an empty one", path.string());
  std::vector<ListedModule> modules;
  for (const Json& entry : *list) {
    const auto text = [&](const char* key) {
      const auto found = entry.is_object() ? entry.find(key) : entry.end();
      user_check(found != entry.end() && found->is_string(),
                 "{}: module {}: expected an object with the texts \"type\" and \"path\", got {}",
                 path.string(), modules.size(), shorten(to_line(entry), 80));
      return found->get<std::string>();
    };
    fs::path of_module = fs::path(text("path")).lexically_normal();
    if (of_module == ".") of_module.clear();
    const bool inside =
        of_module.is_relative() && std::ranges::find(of_module, "..") == of_module.end();
    user_check(inside, "{}: module {}: path: expected a folder inside the model folder, got '{}'",
               path.string(), modules.size(), shown_name(of_module.string()));
    modules.push_back({text("type"), of_module});
  }
  return modules;
}

std::optional<Json> read_sentence_settings(const fs::path& folder, std::string_view model_type,
                                           const JsonReader& read) {
  if (!read(folder / kModulesFile)) return std::nullopt;
  const fs::path file = folder / kPromptsFile;
  Json settings = read(file).value_or(Json::object());
  user_check(settings.is_object(), "{}: expected an object, got {}", file.string(),
             settings.type_name());
  if (settings.value("model_type", Json("SentenceTransformer")) != model_type) return std::nullopt;
  return settings;
}

std::string default_prompt(const Json& settings, const fs::path& file) {
  const Json name = settings.value("default_prompt_name", Json());
  if (name.is_null()) return "";
  const Json prompts = settings.value("prompts", Json());
  const Json prompt = name.is_string() && prompts.is_object()
                          ? prompts.value(name.get<std::string>(), Json())
                          : Json();
  user_check(prompt.is_string(),
             "{}: default_prompt_name: expected the name of a text in \"prompts\", got {}",
             file.string(), shorten(to_line(name), 80));
  return prompt.get<std::string>();
}

fs::path encoder_folder(const fs::path& folder, const std::vector<ListedModule>& modules) {
  const auto encoder = std::ranges::find_if(modules, &ListedModule::is_encoder);
  return encoder == modules.end() || encoder->folder.empty() ? folder : folder / encoder->folder;
}

std::vector<std::string> copy_modules(const fs::path& folder, const fs::path& output) {
  const std::vector<ListedModule> modules = read_module_list(folder, json_reader());
  std::vector<std::string> written;
  if (modules.empty()) return written;
  const auto write = [&](const fs::path& file, const std::string& content) {
    std::error_code error;
    fs::create_directories((output / file).parent_path(), error);  // if this fails, so does writing
    write_file(output / file, content);
    written.push_back(file.string());
  };
  const fs::path encoder = encoder_folder(folder, modules);
  Json list = read_json(folder / kModulesFile);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const ListedModule& module = modules[i];
    const bool apart = !module.is_encoder() && !module.folder.empty();
    const std::string name = apart ? usual_folder(i, module) : "";
    list[i]["path"] = name;
    // A module without parameters may have no folder, because git stores no empty ones.
    if (apart && is_folder(folder / module.folder))
      for (const fs::path& file : all_files(folder / module.folder))
        write(name / file, fetched(folder / module.folder / file));
  }
  write(kModulesFile, to_document(list));
  if (path_exists(folder / kPromptsFile))
    write(kPromptsFile, without_activation(fetched(folder / kPromptsFile)));
  for (const char* name : kEncoderFiles)
    if (path_exists(encoder / name)) write(name, fetched(encoder / name));
  return written;
}

}  // namespace hone
