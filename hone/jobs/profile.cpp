#include "hone/jobs/profile.h"

#include <algorithm>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/run_profile.h"
#include "hone/kernels/peak.h"
#include "hone/study/result.h"

namespace hone {
namespace {

MachinePeaks peaks_of(const BenchTimes& times, Context& context, std::vector<std::string>& notes) {
  MachinePeaks peaks{
      .fp32 = times.peak,
      .bandwidth = keep_highest(PeakKind::copy_gbps, times.threads,
                                kernels::measure_copy_gbps(context.pool), peaks_file(), notes)};
  for (const auto& [kind, some] : times.native) peaks.native.emplace(kind, some.peak);
  return peaks;
}

double total_seconds(const std::vector<OperatorTime>& operators) {
  double total = 0;
  for (const OperatorTime& one : operators) total += one.seconds;
  return total;
}

void fill_document(const BenchTimes& times, const std::vector<OperatorTime>& kinds,
                   const MachinePeaks& peaks, Document& document) {
  double compute = 0;
  std::map<std::string, double> by_operation;  // summed over kernels
  for (const OperatorTime& one : kinds) {
    compute += peaks.compute_seconds(one);
    by_operation[one.operation] += one.seconds;
  }
  const double total = total_seconds(kinds);
  const auto& [longest, seconds] =
      *std::ranges::max_element(by_operation, {}, [](const auto& one) { return one.second; });
  document.headline = fmt::format("{}: {} ms per run, {:.0f}% of it in {}", times.what,
                                  three_digits(times.median_ms), 100 * seconds / total, longest);
  document.key_figures = {
      {"Median of " + std::to_string(times.runs) + " runs",
       fmt::format("{} ms (minimum {} ms)", three_digits(times.median_ms),
                   three_digits(times.min_ms))},
      {"At peak arithmetic", fmt::format("{:.0f}% of the time", 100 * compute / total)}};
}

Section reading_notes(const BenchTimes& times, const MachinePeaks& peaks) {
  return {
      "How to read this",
      {Paragraph{fmt::format(
           "Times are of one run, the mean of the faster {} of {}. Peak: {:.0f} GFLOP/s of fp32 "
           "({}){} and {:.1f} GB/s of memory, read and written ({}), on {}.",
           faster_half(times.runs), times.runs, peaks.fp32.value, provenance(peaks.fp32),
           native_peaks_text(times), peaks.bandwidth.value, provenance(peaks.bandwidth),
           times.threads == 1 ? "one thread" : fmt::format("{} threads", times.threads))},
       Paragraph{"Bytes are those of operands and results as if no cache held them, so data in "
                 "caches can exceed the bandwidth of memory. FLOP are those that kernels compute, "
                 "which may be fewer than by definition."},
       Paragraph{fmt::format(
           "Bound by: the resource that takes longer at its peak rate. \"caches\": memory would "
           "take longer than the operation did. \"neither\": the peak time is less than {:.0f}% "
           "of the time taken.",
           100 * kBoundShare)}},
      /*folded=*/true};
}

}  // namespace

const Fields& fields_of(const ProfileFields*) {
  using P = ProfileFields;
  static const Fields fields = describe<P>(
      "profile", "Where the time of a model goes on this machine.", inlined<&P::times>(),
      field<&P::copy_gbps>("copy_gbps", Unit::gigabytes_per_second,
                           "Peak of copying memory on this machine, bytes read and written."),
      field<&P::operators>("operators",
                           "Every operation and kernel, or node with --by node, the longest "
                           "first."));
  return fields;
}

ProfileResult profile(const ProfileJob& job, Context& context) {
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  BenchJob work = job.work;
  work.options.records = true;
  ProfileResult result;
  result.times = bench(work, context).times;
  const BenchTimes& times = result.times;
  const RunProfile& recorded = *times.recorded;
  Document& document = result.document;
  const MachinePeaks peaks = peaks_of(times, context, document.notes);
  const std::vector<OperatorTime> kinds = by_kernel(recorded.operators);
  const std::vector<OperatorTime>& asked = job.by_node ? recorded.operators : kinds;
  const Table all = operator_table(asked, peaks, 0),
              shown = operator_table(asked, peaks, static_cast<std::size_t>(job.rows));
  result.fields = to_json(ProfileFields{.times = bench_times_result(times, work),
                                        .copy_gbps = peaks.bandwidth.value,
                                        .operators = operator_results(asked, peaks)});
  fill_document(times, kinds, peaks, document);
  document.title = fmt::format("Profile of {}", job.work.model);
  document.sections = {{"", {PageTable{shown}}}};
  if (shown.rows().size() < all.rows().size())
    document.sections.push_back({"All operations", {PageTable{all}}, /*folded=*/true});
  if (output) {
    write_file(output->path() / "operators.csv", to_csv(all));
    write_file(output->path() / "timeline.json", timeline_json(recorded, times.what));
    std::vector<Block>& blocks = document.sections[0].blocks;
    blocks.push_back(figure_block(roofline(kinds, peaks, times.what), output->path() / "roofline",
                                  "Roofline: operations per second against operations per byte, "
                                  "below the peak of the machine",
                                  document.notes));
    blocks.push_back(Paragraph{fmt::format(
        "Open {}/timeline.json in https://ui.perfetto.dev to see the runs.", job.output.folder)});
  }
  document.sections.push_back(reading_notes(times, peaks));
  print_notes(context, document.notes);
  if (!output) return result;
  document.output = job.output.folder;
  result.basis = {std::string(times.arithmetic), 1,
                  times.of_images ? "random images" : "random ids without padding", "none",
                  "nothing is chosen"};
  write_report(result, job.invocation, output->path(), context);
  output->commit();
  return result;
}

}  // namespace hone
