#include "hone/jobs/model_card_sections.h"

namespace hone {

CardCopy card_copy(const Model& model, std::string name, std::string how) {
  return {.name = std::move(name),
          .how = std::move(how),
          .library = library_name(model),
          .weights = about_weights(model),
          .quantized = model.quantization.has_value(),
          .history = model.facts.history};
}

namespace {

// Returns the end of the section that begins at `at`.
std::size_t section_end(const std::string& card, std::size_t at) {
  const std::size_t end = card.find("\n## ", at);
  return end == std::string::npos ? card.size() : end + 1;
}

// Removes the section with this title; returns its position, or npos.
std::size_t erase_section(std::string& card, std::string_view title) {
  const std::size_t at = card.find(title);
  if (at != std::string::npos) card.erase(at, section_end(card, at) - at);
  return at;
}

void replace_history(std::string& card, const History& before, const History& history) {
  const std::size_t begin = card.find(kOriginTitle);
  if (begin == std::string::npos) return;
  const std::size_t end = section_end(card, begin);
  const std::string listed = history_text(before);
  const std::size_t at = listed.empty() ? end - 1 : card.find(listed, begin);
  if (at < end) card.replace(at, listed.size(), history_text(history));
}

// The title and the metadata contain the name.
void rename(std::string& card, const std::string& name) {
  const auto replace_line = [&](std::string_view start, const std::string& text) {
    const std::size_t at = card.find(start);
    if (at == std::string::npos) return;
    const std::size_t begin = at + start.size();
    card.replace(begin, card.find('\n', begin) - begin, text);
  };
  replace_line("\nmodel-index:\n- name: ", yaml_text(name));
  replace_line("\n# ", name);
}

}  // namespace

std::string adapted_card(std::string card, const Model& before, const CardCopy& copy) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = card.find(from); at != std::string::npos && !from.empty())
      card.replace(at, from.size(), to);
  };
  replace("library_name: transformers\n", "library_name: hone\n");
  replace("library_name: hone\n", fmt::format("library_name: {}\n", copy.library));
  if (!copy.quantized) replace(format_tags(before), "");
  erase_section(card, kSizeTitle);
  std::vector<std::string> sentences = copy.weights;
  sentences.insert(sentences.begin(), copy.how);
  const std::string section = weights_section(sentences);
  const std::size_t at = erase_section(card, kWeightsTitle);
  if (at == std::string::npos) return card + "\n" + section;
  card.insert(at, section);
  replace_history(card, before.facts.history, copy.history);
  rename(card, copy.name);
  return card;
}

void copy_model_card(const fs::path& from, const Model& before, const CardCopy& copy,
                     const fs::path& folder) {
  const fs::path file = from / "README.md";
  if (from.empty() || !path_exists(file)) return;
  write_file(folder / "README.md", adapted_card(read_file(file), before, copy));
}

}  // namespace hone
