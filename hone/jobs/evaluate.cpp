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
std::string arithmetic_text(const EvaluateFields& fields) {
  return fields.format ? fmt::format("{} {}", fields.arithmetic, *fields.format)
                       : fields.arithmetic;
}

// Compares with the same model in fp32; `half` is its measurement in bf16 or fp16.
Fp32Comparison against_fp32(const TextModel& source, const Measurement& half,
                            const EncodedSet& data, const std::vector<Example>& examples,
                            std::int64_t batch_size, Context& context) {
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
  Fp32Comparison both{
      .fp32 = {}, .half = {name, bits, half, std::nullopt, arithmetic()}, .verdict = {}};
  {
    const InFp32 in_fp32(context);
    both.fp32 = {"fp32", bits, measure(source.model, data, batch_size, context, "evaluate in fp32"),
                 std::nullopt, arithmetic()};
  }
  both.half.comparison =
      compare_measured(both.fp32, both.half, source.model.facts.scheme().task, examples);
  both.verdict = verdict(both.half.comparison->change);
  both.half.verdict = both.verdict;
  return both;
}

void describe_evaluation(EvaluateResult& result, const EvaluateFields& fields,
                         const MeasuredSplit& split, const std::optional<Fp32Comparison>& both,
                         const std::vector<std::string>& labels) {
  const TaskEvaluation& e = result.measured.evaluation;
  Document& document = result.document;
  document.headline = metric_headline(name_and_size(split), e);
  document.evidence = unseen_sentence(e);
  document.key_figures = {
      {"Loss", fmt::format("{:.4f}", e.loss)},
      {"Throughput",
       fmt::format("{} examples/s", grouped(std::llround(static_cast<double>(e.examples) /
                                                         result.measured.seconds)))},
      {"Arithmetic", arithmetic_text(fields)}};
  if (both)
    document.sections.push_back({"Compared with fp32",
                                 {Paragraph{both->headline(split)},
                                  PageTable{comparison_table({both->fp32, both->half})}}});
  const NamedEvaluation named = {split.facts.split, e, first_caution(split)};
  // A large confusion matrix is too wide for a terminal.
  constexpr std::size_t kMostShown = 4;
  Section details = details_section({named}, labels);
  details.folded = labels.size() > kMostShown;
  if (details.folded) document.sections.push_back({"", {metrics_table(named, labels)}});
  document.sections.push_back(std::move(details));
  document.sections.push_back({"", {Paragraph{to_text(fields.size)}}});
}

}  // namespace

const Fields& fields_of(const EvaluateFields*) {
  using E = EvaluateFields;
  static const Fields fields = describe<E>(
      "eval", "A model evaluated.", inlined<&E::subject>(),
      field<&E::adapter>("adapter", "The adapter as it was named; null: none."),
      field<&E::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&E::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&E::format>("format", "Of the layers; null: not quantized."), inlined<&E::measured>(),
      field<&E::in_fp32>("in_fp32",
                         "The same in fp32; null unless --precision asks for bf16 or fp16."),
      field<&E::comparison>("comparison", "bf16 or fp16 compared with fp32."),
      field<&E::size>("size", "Size of the weights."));
  return fields;
}

std::string Fp32Comparison::headline(const MeasuredSplit& split) const {
  return fmt::format("{} against fp32, {}: {}", half.label, name_and_size(split), verdict.summary);
}

EvaluateResult evaluate_model(const EvaluateJob& job, Context& context) {
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  const TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  const std::string name = name_with_adapter(job.model, job.adapter);
  check_has_head(source, name);
  DataIdentity identity;
  const EvaluationExamples texts = load_measured(job.data, job.split, job.seed, source.model.facts,
                                                 source.trained_on, context, identity);
  EvaluateResult result;
  Document& document = result.document;
  const std::vector<std::string>& labels = source.model.facts.labels;
  document.notes = source.model.warnings;
  document.notes.push_back(untrained_warning(source, name));
  const EncodedSet data = encode_split(source, texts.examples, texts.split.facts.split,
                                       job.data.cut, context, document.notes);
  for (const std::string& warning : warnings_of(texts.split, labels))
    document.notes.push_back(warning);
  std::erase(document.notes, "");
  print_warnings(context, document.notes);
  report_measured_split(texts.split, {unknown_texts(name, source.trained_on)}, context,
                        document.notes);
  result.measured = measure(source.model, data, job.batch_size, context, "evaluate");
  std::optional<Fp32Comparison> both;
  if (context.values != DType::f32)
    both = against_fp32(source, result.measured, data, texts.examples, job.batch_size, context);
  const std::vector<std::string> doubts = concerns(result.measured.evaluation, labels);
  print_warnings(context, doubts);
  document.notes.insert(document.notes.end(), doubts.begin(), doubts.end());
  EvaluateFields fields{
      .subject = subject_result(job.model, identity, texts.split),
      .average_weight_bits = average_weight_bits(source.model),
      .arithmetic = std::string(arithmetic_of_run(forward_graph(source.model), context.session())),
      .measured = evaluation_result(result.measured, labels),
      .size = size_with_adapter(source.model, source.folder, job.adapter)};
  if (!job.adapter.empty()) fields.adapter = job.adapter;
  if (source.model.quantization) fields.format = summary(source.model.quantization->plan);
  if (both) {
    fields.in_fp32 = evaluation_result(both->fp32.measurement, labels);
    fields.comparison = comparison_result(*both->half.comparison, both->verdict);
  }
  result.fields = to_json(fields);
  describe_evaluation(result, fields, texts.split, both, labels);
  document.title = fmt::format("{} evaluated on {}", name, job.data.options.source);
  result.basis = {arithmetic_text(fields), 0, data_text(job.data.options.source, identity),
                  describe(texts.split), "this command chooses nothing on these examples"};
  if (output) {
    write_report(result, job.invocation, output->path(), context);
    output->commit();
  }
  return result;
}

}  // namespace hone
