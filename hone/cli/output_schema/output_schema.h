#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/json.h"

/// What the JSON of every command holds, as one table: `hone schema` prints it as JSON Schema for programs and as
/// docs/reference/json.md for people, and a test holds what the commands print to it. Who adds a key to a result adds its row.
namespace hone {

/// One key of an object.
struct Field {
  std::string_view key;  ///< "": the fields of the fragment `type` stand here themselves
  /// text, integer, number, share (in [0, 1]), boolean, interval ([low, high], shares or their differences), any; a
  /// quantity by its unit ("bytes", "dB": output_schema.cpp lists them); the name of a fragment; or words with | between
  /// them, one of which it is. Behind it, from left to right: [] a list of them, {} an object of them by labels or names,
  /// ? them or null.
  std::string_view type;
  std::string_view meaning = {};
  std::string_view presence = {};  ///< when the key is there; "": always
};

/// Fields that stand in several places.
struct Fragment {
  std::string_view name;
  std::string_view meaning;
  std::vector<Field> fields = {};
  const Fields* described = nullptr;  ///< a struct's own table, instead of `fields`
};
/// That of a described struct.
template <Described T>
Fragment fragment_of() {
  return {fields<T>().name, fields<T>().meaning, {}, &fields<T>()};
}

/// One form of an object that is printed or written.
struct Form {
  std::string_view when;  ///< "with --seeds"; "": always
  std::vector<Field> fields = {};
  const Fields* described = nullptr;  ///< a struct's own table, behind `fields`
  bool chosen = false;                ///< it has only the keys that the user asks for
};
/// That of a command whose result is a described struct.
template <Described T>
Form form_of(std::string_view when = "") {
  return {when, {{"", "result"}}, &fields<T>()};
}

/// What a command prints with --json, or a file it writes. It has one of the forms.
struct SchemaDocument {
  std::string_view name;  ///< of the command, or the file
  std::string_view meaning;
  std::vector<Form> forms;
};

/// That of a command whose result is one described struct, after which it is called.
template <Described T>
SchemaDocument document_of() {
  return {fields<T>().name, fields<T>().meaning, {form_of<T>()}};
}

/// A document in results.
struct SchemaDocumentResult {
  std::string_view document, meaning;
};
/// The result of `hone schema` without a name.
struct SchemaFields {
  std::vector<SchemaDocumentResult> documents;
};
const Fields& fields_of(const SchemaDocumentResult*);
const Fields& fields_of(const SchemaFields*);

const std::vector<Fragment>& fragments();
const std::vector<SchemaDocument>& documents();

/// The document as JSON Schema, draft 2020-12, fragments among its $defs. No object may have other keys.
Json json_schema(const SchemaDocument& document);

/// docs/reference/json.md.
std::string schema_page();

}  // namespace hone
