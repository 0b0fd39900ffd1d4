#include "tests/cli/json_schema.h"

#include <fmt/format.h>

#include <set>

namespace hone::testing {
namespace {

using Problems = std::vector<std::string>;

constexpr std::string_view kDefinitions = "#/$defs/";

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

class Checker {
 public:
  explicit Checker(const Json& document) : document_(document) {}

  Problems check(const Json& value, const Json& schema, const std::string& where) const {
    Problems problems;
    const auto complain = [&](const std::string& text) { problems.push_back(where + ": " + text); };
    const auto add = [&](const Problems& more) {
      problems.insert(problems.end(), more.begin(), more.end());
    };
    static const std::set<std::string> words = {"title", "description", "$schema",
                                                "$defs", "required",    "additionalProperties"};
    for (const auto& [word, rule] : schema.items()) {
      if (word == "type") {
        if (!has_type(value, rule)) complain(fmt::format("{} is no {}", shown(value), rule.dump()));
      } else if (word == "enum") {
        bool among = false;
        for (const Json& one : rule) among |= one == value;
        if (!among) complain(fmt::format("{} is none of {}", shown(value), rule.dump()));
      } else if (word == "const") {
        if (value != rule) complain(fmt::format("{} is not {}", shown(value), rule.dump()));
      } else if (word == "anyOf") {
        add(closest(value, rule, where));
      } else if (word == "$ref") {
        const std::string name = rule.get<std::string>().substr(kDefinitions.size());
        add(check(value, document_.at("$defs").at(name), where));
      } else if (word == "properties") {
        if (value.is_object()) add(check_members(value, schema, where));
      } else if (word == "items") {
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
          add(check(value[i], rule, fmt::format("{}[{}]", where, i)));
      } else if (word == "minItems" || word == "maxItems") {
        const bool least = word == "minItems";
        if (value.is_array() && (least ? value.size() < rule : value.size() > rule))
          complain(fmt::format("{} has {} elements", shown(value), value.size()));
      } else if (word == "minimum" || word == "maximum") {
        const bool least = word == "minimum";
        if (value.is_number() && (least ? value < rule : value > rule))
          complain(fmt::format("{} lies beyond {}", value.dump(), rule.dump()));
      } else if (!words.contains(word)) {
        complain("the schema has the keyword " + word);
      }
    }
    if (!schema.contains("properties") && schema.contains("additionalProperties") &&
        value.is_object())
      add(check_members(value, schema, where));
    return problems;
  }

 private:
  static std::string shown(const Json& value) { return value.dump().substr(0, 100); }

  // Returns the problems of the alternative that has the fewest.
  Problems closest(const Json& value, const Json& forms, const std::string& where) const {
    Problems fewest = {where + ": there is no form"};
    bool first = true;
    for (const Json& form : forms) {
      Problems problems = check(value, form, where);
      if (first || problems.size() < fewest.size()) fewest = std::move(problems);
      first = false;
    }
    return fewest;
  }

  Problems check_members(const Json& value, const Json& schema, const std::string& where) const {
    Problems problems;
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [key, member] : value.items()) {
      const std::string place = where + "." + key;
      if (!properties.contains(key) && others == false) {
        problems.push_back(place + ": no such key");
        continue;
      }
      if (!properties.contains(key) && others == true) continue;
      const Problems more =
          check(member, properties.contains(key) ? properties.at(key) : others, place);
      problems.insert(problems.end(), more.begin(), more.end());
    }
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>()))
        problems.push_back(fmt::format("{}: {} is missing", where, key.dump()));
    return problems;
  }

  const Json& document_;
};

/// Finds the keys in valid values.
class KeyFinder {
 public:
  explicit KeyFinder(const Json& document) : document_(document) {}

  void find(const Json& value, const Json& schema, const std::string& owner) {
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(kDefinitions.size());
      return find(value, document_.at("$defs").at(name), name);
    }
    for (const Json& form : schema.value("anyOf", Json::array()))
      if (Checker(document_).check(value, form, "").empty())
        return find(value, form, form.value("title", owner));
    if (value.is_array() && schema.contains("items"))
      for (const Json& item : value) find(item, schema["items"], owner);
    if (!value.is_object()) return;
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, member] : value.items()) {
      if (properties.contains(key)) {
        keys.insert(owner + "/" + key);
        find(member, properties[key], owner);
      } else if (schema.contains("additionalProperties") &&
                 schema["additionalProperties"].is_object()) {
        find(member, schema["additionalProperties"], owner);
      }
    }
  }

  std::set<std::string> keys;

 private:
  const Json& document_;
};

void add_keys(const Json& schema, const std::string& owner, std::set<std::string>& keys) {
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, rule] : properties.items()) keys.insert(owner + "/" + key);
}

}  // namespace

std::vector<std::string> schema_problems(const Json& value, const Json& schema) {
  return Checker(schema).check(value, schema, "");
}

std::set<std::string> schema_keys(const Json& schema) {
  std::set<std::string> keys;
  add_keys(schema, schema["title"], keys);
  for (const Json& form : schema.value("anyOf", Json::array())) add_keys(form, form["title"], keys);
  for (const auto& [name, fragment] : schema["$defs"].items()) add_keys(fragment, name, keys);
  return keys;
}

std::set<std::string> keys_in(const Json& value, const Json& schema) {
  KeyFinder finder(schema);
  finder.find(value, schema, schema["title"]);
  return finder.keys;
}

}  // namespace hone::testing
