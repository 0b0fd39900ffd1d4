#include "hone/study/result.h"

#include "hone/base/text.h"
#include "hone/metrics/evidence.h"

namespace hone {

Json result_of(std::string_view command, const Json& fields) {
  Json result = {{"schema_version", kSchemaVersion}, {"command", command}};
  result.update(fields);
  return result;
}

const Fields& fields_of(const SubjectResult*) {
  using S = SubjectResult;
  static const Fields fields = describe<S>(
      "subject", "What a result is about.", field<&S::model>("model", "The model as it was named."),
      field<&S::data>("data", "The data."), inlined<&S::measured>());
  return fields;
}

SubjectResult subject_result(const std::string& model, const DataIdentity& data,
                             const MeasuredPart& part) {
  SubjectResult subject{model, data_result(data), {}};
  if (part.facts.rows > 0) subject.measured = measured_split_result(part);
  return subject;
}

std::string sample_size_text(const Json& figures) {
  return sample_size_text(figures.at("eval_samples").get<std::int64_t>(),
                          figures.at("eval_effective_samples").get<std::int64_t>());
}

std::string part_text(const std::string& part, const Json& figures) {
  return part_text(part, figures.at("eval_samples").get<std::int64_t>(),
                   figures.at("eval_effective_samples").get<std::int64_t>(),
                   figures.value("cautions", std::vector<std::string>{}));
}

std::string part_text(const NamedFigures& figures, const Json& result) {
  Json own = result.at(figures.key);
  if (!figures.cautions.empty()) own["cautions"] = figures.cautions;
  return part_text(figures.name, own);
}

std::vector<std::string> cautions_of(const Json& figures) {
  std::vector<std::string> words;
  for (const Json& caution : value_at(figures, "cautions"))
    if (caution.is_string()) words.push_back(caution);
  const Json &n = value_at(figures, "n"), &effective = value_at(figures, "effective_n");
  if (n.is_number_integer() && effective.is_number_integer() &&
      is_notably_less(effective.get<std::int64_t>(), n.get<std::int64_t>()))
    words.push_back("effective n = " + grouped(effective.get<std::int64_t>()));
  return words;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

const Json& value_at(const Json& value, const std::string& key) {
  static const Json none;
  return value.is_object() && value.contains(key) ? value[key] : none;
}

void write_results(std::string_view command, const Json& fields, const fs::path& folder) {
  write_file(folder / "results.json", to_document(result_of(command, fields)));
}

}  // namespace hone
