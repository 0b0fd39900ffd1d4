#include "hone/jobs/statistics.h"

#include "hone/base/text.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

// A format with one scale loses most on the operand whose largest value is furthest from its median.
void fill_document(const std::vector<TensorStatistics>& all, Document& document) {
  const TensorStatistics* widest = nullptr;
  double most = 0;
  std::int64_t not_finite = 0;
  for (const TensorStatistics& one : all) {
    not_finite += one.not_finite();
    const double median = one.median_magnitude().value_or(0);
    const double ratio = median > 0 ? *one.max_magnitude() / median : 0;
    if (ratio <= most) continue;
    most = ratio;
    widest = &one;
  }
  document.headline =
      widest == nullptr
          ? "All medians are zero"
          : fmt::format("Widest range: {} of {}, largest magnitude {:.3g} × the median",
                        to_string(widest->operand), widest->layer, most);
  if (not_finite > 0) {
    document.headline += fmt::format("; {} values are not finite", grouped(not_finite));
    document.tone = Tone::bad;
  }
}

}  // namespace

const Fields& fields_of(const StatisticsFields*) {
  using S = StatisticsFields;
  static const Fields fields = describe<S>(
      "statistics", "Statistics of the weights and activations of a model.", inlined<&S::subject>(),
      field<&S::examples>("examples", Unit::examples,
                          "Number of examples whose activations were measured."),
      field<&S::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&S::tensors>("tensors", "Operands and outputs, in the order of the graph."));
  return fields;
}

StatisticsResult measure_statistics(const StatisticsJob& job, Context& context) {
  StatisticsResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::one_model, context, document.notes);
  result.tensors = measure_statistics(source.model, job.layers, data.test, context);
  const std::string arithmetic(arithmetic_of(source.model.graph));
  const Table table = statistics_table(result.tensors);
  result.fields =
      to_json(StatisticsFields{.subject = subject_result(job.model, data.identity, data.measured),
                               .examples = data.test.size(),
                               .arithmetic = arithmetic,
                               .tensors = result.tensors});
  write_file(output.path() / "statistics.csv", to_csv(table));
  write_file(output.path() / "histograms.csv", to_csv(histogram_table(result.tensors)));
  fill_document(result.tensors, document);
  document.title = fmt::format("Weights and activations of {}", job.model);
  document.output = job.output.folder;
  result.basis = basis_of(job.data.options.source, data, arithmetic);
  std::vector<std::string> figure_notes;
  document.sections = {
      {"",
       {PageTable{table, fmt::format("Over {} examples of the {} split; weights as the layers read "
                                     "them.",
                                     grouped(data.test.size()), data.measured.facts.split)},
        figure_block(statistics_figure(result.tensors, document.title),
                     output.path() / "statistics",
                     "Median, 99.9% and largest magnitude of the weights and activations of each "
                     "layer",
                     figure_notes)}}};
  document.notes.insert(document.notes.end(), figure_notes.begin(), figure_notes.end());
  print_warnings(context, figure_notes);
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
