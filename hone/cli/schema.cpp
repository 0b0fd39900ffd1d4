#include "hone/base/terminal.h"
#include "hone/base/text.h"
#include "hone/cli/command.h"
#include "hone/cli/json_schema.h"
#include "hone/cli/print_result.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct SchemaArguments {
  std::string document;
  bool markdown = false;
  bool json = false;
};

std::vector<std::string> document_names() {
  std::vector<std::string> names;
  for (const SchemaDocument& document : documents()) names.emplace_back(document.name);
  return names;
}

void print_schema(const std::string& name) {
  for (const SchemaDocument& document : documents())
    if (document.name == name) return fmt::print("{}", to_document(json_schema(document)));
  fail("{}: no command or file has a schema of this name; `hone schema` lists them{}", name,
       did_you_mean(name, document_names()));
}

void list_documents(bool json) {
  SchemaFields fields;
  for (const SchemaDocument& document : documents())
    fields.documents.push_back({document.name, document.meaning});
  if (json) return print_result("schema", to_json(fields));
  const TextStyle style{.columns = terminal_columns(stdout)};
  fmt::print(
      "{}\n{}", to_text(headed_table(fields.documents), style),
      wrapped_text("`hone schema DOCUMENT` prints its JSON Schema, `hone schema --markdown` a page "
                   "on all of them.\n",
                   style.columns));
}

void schema(SchemaArguments& a) {
  if (a.markdown && !a.document.empty())
    throw UsageError("hone schema: --markdown prints all documents; remove --markdown or the name");
  if (a.markdown) return fmt::print("{}", schema_page());
  if (!a.document.empty()) return print_schema(a.document);
  list_documents(a.json);
}

}  // namespace

const Fields& fields_of(const SchemaDocumentResult*) {
  using S = SchemaDocumentResult;
  static const Fields fields = describe<S>(
      "schema_document", "A document that has a schema.",
      field<&S::document>("document", "A command, or a file of output folders.", "Document"),
      field<&S::meaning>("meaning", "What it is.", "What it is"));
  return fields;
}

const Fields& fields_of(const SchemaFields*) {
  static const Fields fields =
      describe<SchemaFields>("schema", "The documents that have a schema, without DOCUMENT.",
                             field<&SchemaFields::documents>("documents", "All documents."));
  return fields;
}

namespace {

Options options_of(const SchemaArguments*) {
  using A = SchemaArguments;
  return {argument<&A::document>("DOCUMENT", "command or output file; without it, all are listed")
              .takes({.shown = "DOCUMENT", .choices = document_names}),
          option<&A::markdown>("markdown", "print the whole reference as Markdown"),
          option<&A::json>("json", "print the list as JSON").under(Heading::output)};
}

}  // namespace

Command schema_command() {
  return {.name = "schema",
          .summary = "Describe the JSON output of commands",
          .example = "hone schema quantize",
          .run = runs<SchemaArguments, schema>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
