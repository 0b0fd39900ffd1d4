#include "hone/data/split_names.h"

#include <algorithm>

namespace hone {
namespace {

struct Keyword {
  std::string_view word;
  SplitRole role;
};
// From datasets/data_files.py.
constexpr Keyword kKeywords[] = {{"train", SplitRole::train},
                                 {"training", SplitRole::train},
                                 {"validation", SplitRole::validation},
                                 {"valid", SplitRole::validation},
                                 {"val", SplitRole::validation},
                                 {"dev", SplitRole::validation},
                                 {"test", SplitRole::test},
                                 {"testing", SplitRole::test},
                                 {"eval", SplitRole::test},
                                 {"evaluation", SplitRole::test}};

bool separates(char c) {
  return std::string_view("-._ 0123456789").find(c) != std::string_view::npos;
}

bool has_keyword(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || separates(name[at - 1]);
    if (begins && (end == name.size() || separates(name[end]))) return true;
  }
  return false;
}

}  // namespace

std::string to_string(SplitRole role) {
  if (role == SplitRole::train) return "train";
  return role == SplitRole::validation ? "validation" : "test";
}

std::vector<SplitRole> roles_in(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::vector<SplitRole> roles;
  for (const auto& [word, role] : kKeywords)
    if (std::ranges::find(roles, role) == roles.end() && has_keyword(lower, word))
      roles.push_back(role);
  return roles;
}

}  // namespace hone
