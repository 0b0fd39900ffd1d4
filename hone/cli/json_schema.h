#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/json.h"

/// The contents of every command's JSON, derived from the fields of the results' structs. `hone schema` prints it as
/// JSON Schema for programs and as docs/reference/json.md for people.
namespace hone {

/// One form of an object that is printed or written.
struct Form {
  std::string_view when = {};  ///< "with --seeds"; "": always
  const Fields* fields = nullptr;
  bool is_result = true;   ///< the result of a command: begins with the fields of `ResultHead`
  bool is_chosen = false;  ///< contains only the keys that the user selects
};

/// The --json output of a command, or a file that it writes. It has one of the forms.
struct SchemaDocument {
  std::string_view name;  ///< of the command, or the file
  std::string_view meaning;
  std::vector<Form> forms;
};

/// The first fields of every result (see `print_result`).
struct ResultHead {
  int schema_version = 1;
  std::string command;
};
const Fields& fields_of(const ResultHead*);

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

/// All documents: schema_documents.cpp.
const std::vector<SchemaDocument>& documents();

/// Returns the document as JSON Schema, draft 2020-12, with its structs as $defs. Objects allow no other keys.
Json json_schema(const SchemaDocument& document);

/// Returns the text of docs/reference/json.md.
std::string schema_page();

}  // namespace hone
