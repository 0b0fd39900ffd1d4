#include "hone/cli/output_schema/output_schema.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/cli/output_schema/output_fields.h"

// The table as JSON Schema and as a page.
namespace hone {
namespace {

/// What is counted or measured in a unit.
struct UnitType {
  std::string_view name;  ///< as types call it
  std::string_view type;  ///< integer, number or text
  std::string_view unit;
};

constexpr UnitType kQuantities[] = {
    {"texts", "integer", "texts"},
    {"rows", "integer", "rows"},
    {"tokens", "integer", "tokens"},
    {"steps", "integer", "steps"},
    {"seeds", "integer", "seeds"},
    {"bytes", "integer", "bytes"},
    {"bits", "number", "bits"},
    {"nats", "number", "nats"},
    {"logits", "number", "logits"},
    {"dB", "number", "dB"},
    {"s", "number", "s"},
    {"ms", "number", "ms"},
    {"examples/s", "number", "examples/s"},
    {"steps/s", "number", "steps/s"},
    {"FLOP", "number", "FLOP"},
    {"GFLOP", "number", "GFLOP"},
    {"GFLOP/s", "number", "GFLOP/s"},
    {"GOP/s", "number", "GOP/s"},
    {"GB/s", "number", "GB/s"},
    {"difference", "number", "share"},
    {"ratio", "number", "share"},
    {"UTC", "text", "UTC"},
};

const UnitType* find_quantity(std::string_view name) {
  const auto found = std::ranges::find(kQuantities, name, &UnitType::name);
  return found == std::end(kQuantities) ? nullptr : &*found;
}

const Fragment* find_fragment(std::string_view name) {
  const auto found = std::ranges::find(fragments(), name, &Fragment::name);
  return found == fragments().end() ? nullptr : &*found;
}

/// A type apart: its name, and what stands behind it.
struct FieldType {
  std::string_view name;
  std::vector<std::string_view> suffixes;  // "[]", "{}", "?" from left to right
};

FieldType parse_type(std::string_view text) {
  FieldType type{text, {}};
  for (std::size_t taken = 1; taken > 0; type.name.remove_suffix(taken)) {
    taken = 0;
    for (const std::string_view suffix : {"[]", "{}", "?"})
      if (type.name.ends_with(suffix)) taken = suffix.size();
    if (taken > 0)
      type.suffixes.insert(type.suffixes.begin(), type.name.substr(type.name.size() - taken));
  }
  return type;
}

std::string_view unit_of(const Field& field) {
  const UnitType* quantity = find_quantity(parse_type(field.type).name);
  return quantity == nullptr ? "" : quantity->unit;
}

const Fragment& fragment_named(std::string_view name) {
  const Fragment* fragment = find_fragment(name);
  HONE_ASSERT(fragment != nullptr, "the schema has no fragment '{}'", name);
  return *fragment;
}

/// Makes schemas of types, and collects the fragments they name.
class SchemaWriter {
 public:
  // `required`: whether all keys of `described` are always there.
  Json of_object(const std::vector<Field>& fields, const Fields* described, bool required = true) {
    Object object;
    for (const Field& field : fields) {
      if (field.key.empty()) {
        add_fragment(object, fragment_named(field.type), field.presence.empty());
      } else {
        add(object, field, field.presence.empty());
      }
    }
    if (described != nullptr) add(object, *described, required, /*nullable=*/false);
    return {{"type", "object"},
            {"properties", object.properties},
            {"required", object.required},
            {"additionalProperties", false}};
  }

  Json of_type(std::string_view text) {
    const FieldType type = parse_type(text);
    Json schema = of_name(type.name);
    for (const std::string_view suffix : type.suffixes) {
      if (suffix == "[]") {
        schema = {{"type", "array"}, {"items", schema}};
      } else if (suffix == "{}") {
        schema = {{"type", "object"}, {"additionalProperties", schema}};
      } else {
        schema = {{"anyOf", Json::array({schema, {{"type", "null"}}})}};
      }
    }
    return schema;
  }

  Json definitions() const { return definitions_; }

 private:
  struct Object {
    Json properties = Json::object(), required = Json::array();
  };

  static void add(Object& object, std::string_view key, Json property, std::string_view meaning,
                  std::string_view unit, bool required) {
    property["description"] =
        unit.empty() ? std::string(meaning) : fmt::format("{} ({})", meaning, unit);
    HONE_ASSERT(!object.properties.contains(key), "the schema has '{}' twice", key);
    object.properties[key] = std::move(property);
    if (required) object.required.push_back(key);
  }

  void add(Object& object, const Field& field, bool required) {
    add(object, field.key, of_type(field.type), field.meaning, unit_of(field), required);
  }

  void add_fragment(Object& object, const Fragment& fragment, bool required) {
    for (const Field& field : fragment.fields) {
      if (field.key.empty())
        add_fragment(object, fragment_named(field.type), required && field.presence.empty());
      else
        add(object, field, required && field.presence.empty());
    }
    if (fragment.described != nullptr) add(object, *fragment.described, required, false);
  }

  // `nullable`: of an optional object, whose fields are all null where it is not there.
  void add(Object& object, const Fields& fields, bool required, bool nullable) {
    for (const FieldDef& field : fields.rows) {
      const bool optional = field.type->kind == FieldKind::optional;
      if (field.key.empty()) {
        const TypeDef* type = optional ? field.type->element() : field.type;
        add(object, type->fields(), required, nullable || optional);
        continue;
      }
      if (field.names != nullptr) {
        Json schema = of_type(*field.type->element(), field.unit);
        if (field.null) schema = or_null(schema);
        for (const std::string& name : field.names())
          add(object, fmt::format("{}{}{}", field.key, name, field.suffix), schema, field.meaning,
              to_string(field.unit), false);
        continue;
      }
      Json schema = of_type(*field.type, field.unit);
      if ((nullable && !optional) || field.null) schema = or_null(schema);
      add(object, field.key, std::move(schema), field.meaning, to_string(field.unit), required);
    }
  }

  static Json or_null(const Json& schema) {
    return {{"anyOf", Json::array({schema, {{"type", "null"}}})}};
  }

  Json of_type(const TypeDef& type, Unit unit) {
    switch (type.kind) {
      case FieldKind::boolean:
        return {{"type", "boolean"}};
      case FieldKind::integer:
        return {{"type", "integer"}};
      case FieldKind::number:
        return unit == Unit::share ? of_name("share") : Json{{"type", "number"}};
      case FieldKind::text:
        return {{"type", "string"}};
      case FieldKind::json:
        return Json::object();
      case FieldKind::interval:
        return of_interval(unit);
      case FieldKind::choice: {
        Json words = Json::array();
        for (const EnumWord& choice : type.choices()) words.push_back(choice.word);
        return {{"enum", words}};
      }
      case FieldKind::object: {
        const Fields& fields = type.fields();
        return reference(fields.name, {}, &fields);
      }
      case FieldKind::optional:
        return or_null(of_type(*type.element(), unit));
      case FieldKind::list:
        return {{"type", "array"}, {"items", of_type(*type.element(), unit)}};
      case FieldKind::map:
        return {{"type", "object"}, {"additionalProperties", of_type(*type.element(), unit)}};
    }
    return {};
  }

  // Ends may be infinite, or not be defined.
  static Json of_interval(Unit unit) {
    Json end = {{"type", "number"}};
    if (unit == Unit::share) end.update({{"minimum", 0}, {"maximum", 1}});
    return {{"type", "array"}, {"items", or_null(end)}, {"minItems", 2}, {"maxItems", 2}};
  }

  Json reference(std::string_view name, const std::vector<Field>& fields, const Fields* described) {
    if (!definitions_.contains(name)) {
      definitions_[name] = nullptr;  // it may contain itself
      definitions_[name] = of_object(fields, described);
    }
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
  }

  Json of_name(std::string_view name) {
    if (name == "any") return Json::object();
    if (const UnitType* quantity = find_quantity(name)) name = quantity->type;
    if (name == "text") return {{"type", "string"}};
    if (name == "integer" || name == "number" || name == "boolean") return {{"type", name}};
    if (name == "share") return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
    if (name == "interval")
      return {{"type", "array"},
              {"items", {{"type", "number"}, {"minimum", -1}, {"maximum", 1}}},
              {"minItems", 2},
              {"maxItems", 2}};
    if (name.find('|') != std::string_view::npos) return {{"enum", split(std::string(name), '|')}};
    const Fragment& fragment = fragment_named(name);
    return reference(fragment.name, fragment.fields, fragment.described);
  }

  Json definitions_ = Json::object();
};

// "[measurement](#measurement), by name", "list of integer, or null".
std::string type_text(std::string_view text) {
  const FieldType type = parse_type(text);
  const UnitType* quantity = find_quantity(type.name);
  std::string words(quantity == nullptr ? type.name : quantity->type);
  if (type.name.find('|') != std::string_view::npos) {
    words.clear();
    for (const std::string& word : split(std::string(type.name), '|'))
      words += fmt::format("{}`\"{}\"`", words.empty() ? "" : ", ", word);
  } else if (find_fragment(type.name) != nullptr) {
    words = fmt::format("[{0}](#{0})", type.name);
  }
  for (const std::string_view suffix : type.suffixes) {
    if (suffix == "[]") words = "list of " + words;
    if (suffix == "{}") words = "object of " + words;
    if (suffix == "?") words += " or null";
  }
  return words;
}

std::string type_text(const TypeDef& type) {
  switch (type.kind) {
    case FieldKind::boolean:
      return "boolean";
    case FieldKind::integer:
      return "integer";
    case FieldKind::number:
      return "number";
    case FieldKind::text:
      return "text";
    case FieldKind::json:
      return "any";
    case FieldKind::interval:
      return "interval";
    case FieldKind::choice: {
      std::vector<std::string> words;
      for (const EnumWord& choice : type.choices())
        words.push_back(fmt::format("`\"{}\"`", choice.word));
      return fmt::format("{}", fmt::join(words, ", "));
    }
    case FieldKind::object:
      return fmt::format("[{0}](#{0})", type.fields().name);
    case FieldKind::optional:
      return type_text(*type.element()) + " or null";
    case FieldKind::list:
      return "list of " + type_text(*type.element());
    case FieldKind::map:
      return "object of " + type_text(*type.element());
  }
  return "";
}

// `always`: when the keys of `described` are there.
std::string fields_table(const std::vector<Field>& fields, const Fields* described,
                         std::string_view always = "always") {
  std::string text = "| key | type | unit | there | meaning |\n|---|---|---|---|---|\n";
  const auto keys_of = [](std::string_view name, std::string_view there) {
    return fmt::format("| the keys of [{0}](#{0}) | | | {1} | |\n", name, there);
  };
  for (const Field& field : fields) {
    const std::string there(field.presence.empty() ? "always" : field.presence);
    text += field.key.empty()
                ? keys_of(field.type, there)
                : fmt::format("| `{}` | {} | {} | {} | {} |\n", field.key, type_text(field.type),
                              unit_of(field), there, field.meaning);
  }
  if (described == nullptr) return text + "\n";
  for (const FieldDef& field : described->rows) {
    const bool optional = field.type->kind == FieldKind::optional;
    const TypeDef& type = optional ? *field.type->element() : *field.type;
    if (field.names != nullptr) {
      std::vector<std::string> keys;
      for (const std::string& name : field.names())
        keys.push_back(fmt::format("`{}{}{}`", field.key, name, field.suffix));
      text += fmt::format("| {} | {} | {} | where they apply | {} |\n", fmt::join(keys, ", "),
                          type_text(*field.type->element()), to_string(field.unit), field.meaning);
      continue;
    }
    text += field.key.empty() ? keys_of(type.fields().name, optional ? "or all null" : always)
                              : fmt::format("| `{}` | {}{} | {} | {} | {} |\n", field.key,
                                            type_text(*field.type), field.null ? " or null" : "",
                                            to_string(field.unit), always, field.meaning);
  }
  return text + "\n";
}

constexpr std::string_view kPageHead = R"(# What the commands print for programs

Made from the program itself by `hone schema --markdown`. `hone schema COMMAND` prints the same as JSON Schema (draft 2020-12)
for a validator.

With `--json` a command prints one object on one line of the standard output; `hone predict` prints one for every text, as
they come. Output folders have the same object in `results.json`. Every object has `schema_version`, which rises when a key
changes its meaning or type or goes away; new keys leave it as it is, so readers pass over those they do not know. What
`hone predict --fields` chooses stands alone.

- A *share* is a number from 0 to 1, never percent. A key that ends in `_interval` is `[low, high]` at 95%, of a share, of a
  difference between two, or of a mean.
- Numbers have all their digits. JSON has no word for infinity and for what is no number: both are `null`, and the meaning
  says which of them can occur.
- "always" means in every such object; other keys are left out where what the column says does not hold.
- Keys that begin with `eval_` and `train_` are those of Hugging Face's Trainer.

)";

template <typename T>
std::vector<T> joined(std::initializer_list<std::vector<T>> parts) {
  std::vector<T> all;
  for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

const std::vector<SchemaDocument>& documents() {
  static const std::vector<SchemaDocument> all =
      joined({documents_of_models(), documents_of_compression(), documents_of_formats(),
              documents_of_analyses(), documents_of_searches(), documents_of_runs()});
  return all;
}

const std::vector<Fragment>& fragments() {
  static const std::vector<Fragment> all =
      joined({fragments_of_figures(), fragments_of_models(), fragments_of_compression(),
              fragments_of_formats(), fragments_of_analyses(), fragments_of_searches(),
              fragments_of_runs(), fragments_of_labs()});
  return all;
}

Json json_schema(const SchemaDocument& document) {
  SchemaWriter writer;
  Json forms = Json::array();
  for (const Form& form : document.forms) {
    Json schema = writer.of_object(form.fields, form.described, !form.chosen);
    if (!form.when.empty()) schema["title"] = form.when;
    forms.push_back(schema);
  }
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", document.name},
                 {"description", document.meaning}};
  if (forms.size() == 1) {
    schema.update(forms[0]);
  } else {
    schema["anyOf"] = forms;
  }
  schema["$defs"] = writer.definitions();
  return schema;
}

std::string schema_page() {
  std::string text(kPageHead);
  for (const SchemaDocument& document : documents()) {
    text += fmt::format("## {}\n\n{}\n\n", document.name, document.meaning);
    for (const Form& form : document.forms) {
      if (!form.when.empty()) text += fmt::format("### {} {}\n\n", document.name, form.when);
      text += fields_table(form.fields, form.described,
                           form.chosen ? "where it is asked for" : "always");
    }
  }
  text += "# Parts that stand in several places\n\n";
  for (const Fragment& fragment : fragments())
    text += fmt::format("## {}\n\n{}\n\n{}", fragment.name, fragment.meaning,
                        fields_table(fragment.fields, fragment.described));
  text.pop_back();
  return text;
}

}  // namespace hone
