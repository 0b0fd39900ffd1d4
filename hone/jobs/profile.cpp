#include "hone/jobs/profile.h"

#include <algorithm>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/run_profile.h"
#include "hone/kernels/peak.h"
#include "hone/study/result.h"

namespace hone {
namespace {

Floors floors_of(const BenchTimes& times, Context& context, std::vector<std::string>& notes) {
  Floors floors{
      .fp32 = times.peak,
      .bandwidth = keep_highest(PeakKind::copy_gbps, times.threads,
                                kernels::measure_copy_gbps(context.pool), peaks_file(), notes)};
  for (const auto& [kind, some] : times.native) floors.native.emplace(kind, some.peak);
  return floors;
}

double total_seconds(const std::vector<OperatorTime>& operators) {
  double total = 0;
  for (const OperatorTime& one : operators) total += one.seconds;
  return total;
}

// How much of the time would be left if everything ran at its own floor.
std::string headline_of(const BenchTimes& times, const std::vector<OperatorTime>& kinds,
                        const Floors& floors) {
  double compute = 0;
  std::map<std::string, double> by_operation;  // whichever kernel runs it
  for (const OperatorTime& one : kinds) {
    compute += floors.compute_seconds(one);
    by_operation[one.operation] += one.seconds;
  }
  const double total = total_seconds(kinds);
  const auto& [longest, seconds] =
      *std::ranges::max_element(by_operation, {}, [](const auto& one) { return one.second; });
  return fmt::format(
      "{}: {} ms a run at least, {} in the median of {}; {} takes {:.0f}% of the time of "
      "all operations. At the peak of their arithmetic they would take {:.0f}% of it.",
      times.what, three_digits(times.min_ms), three_digits(times.median_ms), times.runs, longest,
      100 * seconds / total, 100 * compute / total);
}

std::string caption_of(const BenchTimes& times, const Floors& floors) {
  return fmt::format(
      "Of a run, mean of the faster {} of {}; at best {:.0f} GFLOP/s of fp32 ({}){} and {:.1f} "
      "GB/s of memory, "
      "read and written ({}), on {}. Bytes are those of "
      "operands and results as if no cache held them, so what lies in caches is above the "
      "bandwidth of memory; FLOP are those that kernels compute, where that is fewer than the "
      "definition takes. Bound by: "
      "what would take longer at that rate, caches: memory would take longer than it took; "
      "neither: that is less than {:.0f}% of the time it "
      "took.",
      faster_half(times.runs), times.runs, floors.fp32.value, provenance(floors.fp32),
      native_peaks_text(times), floors.bandwidth.value, provenance(floors.bandwidth),
      times.threads == 1 ? "one thread" : fmt::format("{} threads", times.threads),
      100 * kBoundShare);
}

}  // namespace

BenchResult profile(const ProfileJob& job, Context& context) {
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  BenchJob work = job.work;
  work.options.records = true;
  BenchResult result = bench(work, context);
  const BenchTimes& times = result.times;
  const RunProfile& recorded = *times.recorded;
  std::vector<std::string> notes;
  const Floors floors = floors_of(times, context, notes);
  const std::vector<OperatorTime> kinds = by_kernel(recorded.operators);
  const std::vector<OperatorTime>& asked = job.by_node ? recorded.operators : kinds;
  const std::string headline = headline_of(times, kinds, floors),
                    caption = caption_of(times, floors);
  const Table all = operator_table(asked, floors, 0);
  result.fields["operators"] = to_json(all);
  result.fields["copy_gbps"] = floors.bandwidth.value;
  result.text = [headline, caption, destination = job.output.folder,
                 shown = operator_table(asked, floors, static_cast<std::size_t>(job.rows))](
                    const TextStyle& style) {
    std::string text = fmt::format("{}\n\n{}\n{}\n", headline, to_text(shown, style), caption);
    if (!destination.empty())
      text += fmt::format(
          "\n{0}/timeline.json opens in https://ui.perfetto.dev; {0}/report.html has the "
          "roofline.\n",
          destination);
    return text;
  };
  if (!output) {
    tell_notes(context, notes);
    return result;
  }
  RunReport report{.title = fmt::format("Where the time of {} goes", job.work.model),
                   .headline = headline,
                   .invocation = job.invocation,
                   .basis = {std::string(times.arithmetic), 1,
                             times.of_images ? "random images" : "random ids without padding",
                             "none", "nothing is chosen"},
                   .results = result.fields,
                   .notes = notes};
  write_file(output->path() / "operators.csv", to_csv(all));
  write_file(output->path() / "timeline.json", timeline_json(recorded, times.what));
  report.sections = {
      {"Operations", {PageTable{all, caption}}},
      {"Roofline",
       {figure_block(roofline(kinds, floors, times.what), output->path() / "roofline",
                     "Operations a second against operations for each byte, below what the machine "
                     "does at best",
                     report.notes)}}};
  tell_notes(context, report.notes);
  write_run_report(report, output->path(), context);
  output->commit();
  return result;
}

}  // namespace hone
