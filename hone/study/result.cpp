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
                             const MeasuredSplit& part) {
  SubjectResult subject{model, data_result(data), {}};
  if (part.facts.rows > 0) subject.measured = measured_split_result(part);
  return subject;
}

std::string sample_size_text(const Json& metrics) {
  return sample_size_text(metrics.at("eval_samples").get<std::int64_t>(),
                          metrics.at("eval_effective_samples").get<std::int64_t>());
}

std::string split_text(const std::string& split, const Json& metrics) {
  return split_text(split, metrics.at("eval_samples").get<std::int64_t>(),
                    metrics.at("eval_effective_samples").get<std::int64_t>(),
                    metrics.value("cautions", std::vector<std::string>{}));
}

std::string split_text(const MetricsKey& metrics, const Json& result) {
  Json own = result.at(metrics.key);
  if (!metrics.cautions.empty()) own["cautions"] = metrics.cautions;
  return split_text(metrics.name, own);
}

std::vector<std::string> cautions_of(const Json& metrics) {
  std::vector<std::string> words;
  for (const Json& caution : value_at(metrics, "cautions"))
    if (caution.is_string()) words.push_back(caution);
  const Json &n = value_at(metrics, "n"), &effective = value_at(metrics, "effective_n");
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
