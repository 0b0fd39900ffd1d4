#include "hone/jobs/statistics.h"

#include "hone/base/text.h"
#include "hone/passes/quantize.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// The operand whose largest value stands out most from its median: what a format of one scale would lose most on.
std::string headline_of(const std::vector<TensorStatistics>& all) {
  const TensorStatistics* widest = nullptr;
  double most = 0;
  std::int64_t not_finite = 0;
  for (const TensorStatistics& one : all) {
    not_finite += one.values.seen().not_finite();
    if (one.values.count() == 0) continue;
    const auto median = static_cast<double>(one.values.seen().magnitude_quantile(0.5));
    const double ratio =
        median > 0 ? static_cast<double>(one.values.seen().magnitude()) / median : 0;
    if (ratio <= most) continue;
    most = ratio;
    widest = &one;
  }
  const std::string broken =
      not_finite > 0 ? fmt::format(" {} values are not finite.", grouped(not_finite)) : "";
  if (widest == nullptr) return "All medians are zero." + broken;
  return fmt::format(
      "The widest range: {} of {}, whose largest magnitude is {:.3g} times its median.{}",
      to_string(widest->operand), widest->layer, most, broken);
}

}  // namespace

StatisticsResult measure_statistics(const StatisticsJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::one_model, context, report.notes);
  StatisticsResult result{
      .tensors = measure_statistics(source.model, job.layers, data.test, context), .fields = {}};
  const std::string arithmetic(arithmetic_of(source.model.graph)),
      looked_at = fmt::format("{} texts of the {} part", grouped(data.test.size()),
                              data.measured.facts.part);
  const Table table = statistics_table(result.tensors);
  result.fields = subject_of(job.model, data.identity, data.measured);
  result.fields["texts"] = data.test.size();
  result.fields["arithmetic"] = arithmetic;
  result.fields["tensors"] = to_json(table);
  const std::string headline = headline_of(result.tensors);
  result.text = [table, headline, looked_at](const TextStyle& style) {
    return fmt::format("Values of layers over {}, weights as they are read:\n\n{}\n{}\n", looked_at,
                       to_text(table, style), headline);
  };
  write_file(output.path() / "statistics.csv", to_csv(table));
  write_file(output.path() / "histograms.csv", to_csv(histogram_table(result.tensors)));
  report.results = result.fields;
  report.title = fmt::format("What the layers of {} read and give", job.model);
  report.headline = headline;
  report.basis = basis_of(job.data.options.source, data, arithmetic);
  std::vector<std::string> undrawn;
  report.sections = {
      {"Layers",
       {figure_block(statistics_figure(result.tensors, report.title), output.path() / "statistics",
                     "Median, 99.9% and largest magnitude of what every layer reads and gives",
                     undrawn),
        PageTable{table, fmt::format("Over {}; weights as they are read", looked_at)}}}};
  report.notes.insert(report.notes.end(), undrawn.begin(), undrawn.end());
  tell_warnings(context, undrawn);
  write_run_report(report, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
