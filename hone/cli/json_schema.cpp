#include "hone/cli/json_schema.h"

#include <fmt/ranges.h>

#include <map>

#include "hone/base/error.h"

namespace hone {
namespace {

/// Writes schemas of structs, and collects the definitions that they refer to.
class SchemaWriter {
 public:
  Json of_form(const Form& form) {
    Object object;
    if (form.is_result) add(object, fields<ResultHead>(), /*required=*/true, /*nullable=*/false);
    add(object, *form.fields, /*required=*/!form.is_chosen, /*nullable=*/false);
    return schema_of(object);
  }

  Json definitions() const { return definitions_; }

 private:
  struct Object {
    Json properties = Json::object(), required = Json::array();
  };

  static Json schema_of(const Object& object) {
    return {{"type", "object"},
            {"properties", object.properties},
            {"required", object.required},
            {"additionalProperties", false}};
  }

  static void add(Object& object, std::string_view key, Json property, const FieldDef& field,
                  bool required) {
    const std::string_view unit = to_string(field.unit);
    property["description"] =
        unit.empty() ? std::string(field.meaning) : fmt::format("{} ({})", field.meaning, unit);
    HONE_ASSERT(!object.properties.contains(key), "the schema has '{}' twice", key);
    object.properties[key] = std::move(property);
    if (required) object.required.push_back(key);
  }

  // `nullable`: the fields are those of an optional object, and all null if it is missing.
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
          add(object, fmt::format("{}{}{}", field.key, name, field.suffix), schema, field,
              /*required=*/false);
        continue;
      }
      Json schema = of_type(*field.type, field.unit);
      if ((nullable && !optional) || field.null) schema = or_null(schema);
      add(object, field.key, std::move(schema), field, required);
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
        return unit == Unit::share ? Json{{"type", "number"}, {"minimum", 0}, {"maximum", 1}}
                                   : Json{{"type", "number"}};
      case FieldKind::text:
        return {{"type", "string"}};
      case FieldKind::json:
        return Json::object();
      case FieldKind::interval:
        return of_interval(unit);
      case FieldKind::choice: {
        Json words = Json::array();
        for (const EnumName& choice : type.choices()) words.push_back(choice.name);
        return {{"enum", words}};
      }
      case FieldKind::object:
        return reference(type.fields());
      case FieldKind::optional:
        return or_null(of_type(*type.element(), unit));
      case FieldKind::list:
        return {{"type", "array"}, {"items", of_type(*type.element(), unit)}};
      case FieldKind::map:
        return {{"type", "object"}, {"additionalProperties", of_type(*type.element(), unit)}};
    }
    return {};
  }

  // A bound is null if it is infinite or undefined.
  static Json of_interval(Unit unit) {
    Json end = {{"type", "number"}};
    if (unit == Unit::share) end.update({{"minimum", 0}, {"maximum", 1}});
    return {{"type", "array"}, {"items", or_null(end)}, {"minItems", 2}, {"maxItems", 2}};
  }

  Json reference(const Fields& fields) {
    if (!definitions_.contains(fields.name)) {
      definitions_[fields.name] = nullptr;  // it may contain itself
      Object object;
      add(object, fields, /*required=*/true, /*nullable=*/false);
      definitions_[fields.name] = schema_of(object);
    }
    return {{"$ref", fmt::format("#/$defs/{}", fields.name)}};
  }

  Json definitions_ = Json::object();
};

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
      for (const EnumName& choice : type.choices())
        words.push_back(fmt::format("`\"{}\"`", choice.name));
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

std::string fields_table(const Form& form) {
  const std::string_view always = form.is_chosen ? "where it is asked for" : "always";
  std::string text = "| key | type | unit | there | meaning |\n|---|---|---|---|---|\n";
  const auto keys_of = [](std::string_view name, std::string_view there) {
    return fmt::format("| the keys of [{0}](#{0}) | | | {1} | |\n", name, there);
  };
  if (form.is_result) text += keys_of(fields<ResultHead>().name, "always");
  for (const FieldDef& field : form.fields->rows) {
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

// Adds the structs that these fields refer to, recursively.
void collect(const Fields& fields, std::map<std::string_view, const Fields*>& parts) {
  for (const FieldDef& field : fields.rows) {
    const TypeDef* type = field.type;
    while (type->element != nullptr) type = type->element();
    if (type->kind != FieldKind::object) continue;
    const Fields& inner = type->fields();
    const auto [at, is_new] = parts.emplace(inner.name, &inner);
    HONE_ASSERT(at->second == &inner, "two structs are called '{}'", inner.name);
    if (is_new) collect(inner, parts);
  }
}

constexpr std::string_view kPageHead = R"(# JSON output

`hone schema --markdown` generates this page. `hone schema COMMAND` prints the same as JSON Schema (draft 2020-12), for
validators.

With `--json`, a command prints one object on one line of the standard output; `hone predict` prints one object for every
example. Output folders contain the same object in `results.json`. Every object has `schema_version`. It increases when a key
is removed or changes its meaning or type. New keys do not change it, so readers should ignore unknown keys. Objects of
`hone predict --fields` contain only the chosen fields.

- A *share* is a number from 0 to 1, not a percentage. A key that ends in `_interval` is a 95% interval `[low, high]` of a
  share, a difference or a mean.
- Numbers have all their digits. JSON cannot represent infinity and NaN: both are `null`, and the description says which of
  them can occur.
- "always" means in every such object. Other keys are omitted unless the condition in this column holds.
- Keys that begin with `eval_` and `train_` are those of Hugging Face's Trainer.

)";

}  // namespace

const Fields& fields_of(const ResultHead*) {
  static const Fields fields =
      describe<ResultHead>("result", "The first fields of every result.",
                           field<&ResultHead::schema_version>("schema_version", "Of this page; 1."),
                           field<&ResultHead::command>("command", "The command: \"train\"."));
  return fields;
}

Json json_schema(const SchemaDocument& document) {
  SchemaWriter writer;
  Json forms = Json::array();
  for (const Form& form : document.forms) {
    Json schema = writer.of_form(form);
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
  std::map<std::string_view, const Fields*> parts = {
      {fields<ResultHead>().name, &fields<ResultHead>()}};
  for (const SchemaDocument& document : documents()) {
    text += fmt::format("## {}\n\n{}\n\n", document.name, document.meaning);
    for (const Form& form : document.forms) {
      if (!form.when.empty()) text += fmt::format("### {} {}\n\n", document.name, form.when);
      text += fields_table(form);
      collect(*form.fields, parts);
    }
  }
  text += "# Shared objects\n\n";
  for (const auto& [name, part] : parts)
    text += fmt::format("## {}\n\n{}\n\n{}", name, part->meaning,
                        fields_table({.fields = part, .is_result = false}));
  text.pop_back();
  return text;
}

}  // namespace hone
