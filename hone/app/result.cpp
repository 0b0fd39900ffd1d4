#include "hone/app/result.h"

namespace hone {

Json result_of(std::string_view command, const Json& fields) {
  Json result = {{"schema_version", kSchemaVersion}, {"command", command}};
  result.update(fields);
  return result;
}

Json subject_of(const std::string& model, const DataIdentity& data, const MeasuredPart& part) {
  Json subject = {{"model", model}, {"data", to_json(data)}};
  if (part.facts.rows > 0) subject.update(to_json(part));
  return subject;
}

void write_results(std::string_view command, const Json& fields, const fs::path& folder) {
  write_file(folder / "results.json", to_document(result_of(command, fields)));
}

}  // namespace hone
