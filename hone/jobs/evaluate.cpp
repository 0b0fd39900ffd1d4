#include "hone/jobs/evaluate.h"

#include <cmath>
#include <optional>

#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_comparison.h"
#include "hone/models/adapter.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// "simulated integer(width=8,frac=4)"
std::string arithmetic_text(const Json& result) {
  std::string text = result["arithmetic"];
  if (result.contains("format")) text += " " + result["format"].get<std::string>();
  return text;
}

void write_report(const EvaluateJob& job, const EvaluateResult& result, const DataIdentity& data,
                  RunReport report, const OutputFolder& output, const Context& context) {
  report.title = fmt::format("{} measured on {}", name_with_adapter(job.model, job.adapter),
                             job.data.options.source);
  report.headline = result.headline();
  report.basis = {arithmetic_text(result.fields), 0, data_text(job.data.options.source, data),
                  describe(result.part), "nothing was chosen on these texts by this command"};
  report.sections = {{"Figures", {PageTable{result.figures()}, Paragraph{to_text(result.size)}}},
                     details_section(result.named(), result.labels)};
  if (result.against_fp32) {
    const AgainstFp32& both = *result.against_fp32;
    report.sections.insert(report.sections.begin() + 1,
                           {"Against fp32",
                            {Paragraph{both.headline(result.part)},
                             PageTable{comparison_table({both.full, both.halves})}}});
  }
  report.results = result.fields;
  write_run_report(report, output.path(), context);
}

// The same model in fp32, where that is another thing: `halves` is what was measured of it.
AgainstFp32 against_fp32(const TextModel& source, const Measurement& halves, const EncodedSet& data,
                         const std::vector<Example>& examples, std::int64_t batch_size,
                         Context& context) {
  struct InFp32 {
    explicit InFp32(Context& changed) : context(changed), before(changed.values) {
      context.values = DType::f32;
    }
    ~InFp32() { context.values = before; }
    InFp32(const InFp32&) = delete;
    InFp32& operator=(const InFp32&) = delete;
    Context& context;
    DType before;
  };
  const double bits = average_weight_bits(source.model);
  const auto arithmetic = [&] {
    return arithmetic_of_run(forward_graph(source.model), context.session());
  };
  const std::string name = context.values == DType::bf16 ? "bf16" : "fp16";
  AgainstFp32 both{
      .full = {}, .halves = {name, bits, halves, std::nullopt, arithmetic()}, .verdict = {}};
  {
    const InFp32 in_fp32(context);
    both.full = {"fp32", bits, measure(source.model, data, batch_size, context, "evaluate in fp32"),
                 std::nullopt, arithmetic()};
  }
  both.halves.comparison =
      compare_measured(both.full, both.halves, source.model.facts.scheme().task, examples);
  both.verdict = verdict(both.halves.comparison->change);
  both.halves.verdict = both.verdict;
  return both;
}

}  // namespace

std::string AgainstFp32::headline(const MeasuredPart& part) const {
  return fmt::format("{} against fp32, {}: {}", halves.label, name_and_size(part), verdict.summary);
}

std::string EvaluateResult::headline() const {
  return figure_headline(name_and_size(part), measured.evaluation);
}

std::vector<NamedEvaluation> EvaluateResult::named() const {
  return {{part.facts.part, measured.evaluation, cautions(part)}};
}

Table EvaluateResult::figures() const {
  const TaskEvaluation& e = measured.evaluation;
  Table table({{"figure", "Figure"}, {"value", "Value"}});
  table.add_row({e.figure.text, figure_sentence(e)});
  table.add_row(
      {e.classes() ? fmt::format("always '{}'", part.majority_label) : baseline_answer(e.figure),
       share_text(e.baseline)});
  table.add_row({"loss", fmt::format("{:.4f}", e.loss)});
  table.add_row({"arithmetic", arithmetic_text(fields)});
  table.add_row({"time", fmt::format("{:.2f} s, {} examples/s", measured.seconds,
                                     grouped(std::llround(static_cast<double>(e.examples) /
                                                          measured.seconds)))});
  return table;
}

EvaluateResult evaluate_model(const EvaluateJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  const TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  const std::string name = name_with_adapter(job.model, job.adapter);
  check_has_head(source, name);
  DataIdentity identity;
  const MeasuredTexts texts = load_measured(job.data, job.split, job.seed, source.model.facts,
                                            source.trained_on, context, identity);
  EvaluateResult result;
  result.part = texts.part;
  result.labels = source.model.facts.labels;
  report.notes = source.model.warnings;
  report.notes.push_back(untrained_warning(source, name));
  const EncodedSet data = encode_part(source, texts.examples, texts.part.facts.part, job.data.cut,
                                      context, report.notes);
  for (const std::string& warning : warnings_of(texts.part, result.labels))
    report.notes.push_back(warning);
  std::erase(report.notes, "");
  tell_warnings(context, report.notes);
  tell_measured(texts.part, {unknown_texts(name, source.trained_on)}, context, report.notes);
  result.measured = measure(source.model, data, job.batch_size, context, "evaluate");
  if (context.values != DType::f32)
    result.against_fp32 =
        against_fp32(source, result.measured, data, texts.examples, job.batch_size, context);
  const std::vector<std::string> doubts = concerns(result.measured.evaluation, result.labels);
  tell_warnings(context, doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  Json& fields = result.fields;
  fields = subject_of(job.model, identity, texts.part);
  if (!job.adapter.empty()) fields["adapter"] = job.adapter;
  fields["average_weight_bits"] = average_weight_bits(source.model);
  fields["arithmetic"] = arithmetic_of_run(forward_graph(source.model), context.session());
  if (source.model.quantization) fields["format"] = summary(source.model.quantization->plan);
  fields.update(to_json(result.measured, result.labels));
  if (result.against_fp32) {
    const AgainstFp32& both = *result.against_fp32;
    fields["in_fp32"] = to_json(both.full.measurement, result.labels);
    fields["comparison"] = to_json(*both.halves.comparison, both.verdict);
  }
  result.size = size_with_adapter(source.model, source.folder, job.adapter);
  fields["size"] = to_json(result.size);
  if (output) {
    write_report(job, result, identity, std::move(report), *output, context);
    output->commit();
  }
  return result;
}

}  // namespace hone
