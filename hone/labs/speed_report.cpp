#include "hone/labs/speed_report.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/speed_figure.h"
#include "hone/labs/speed_numbers.h"
#include "hone/labs/speed_sentences.h"
#include "hone/labs/speed_tables.h"

namespace hone {
namespace {

// `resnet`: inference of the network that the reports timed, or null.
std::vector<PublishedResult> published_speeds(const WorkloadCalls* resnet, bool on_host) {
  const std::string source = "reports of the lab: ResNet-18, torch.compile against eager PyTorch";
  std::optional<std::string> warm, counted, five, twenty;
  if (resnet != nullptr) {
    const PreparedMost one = prepared_most(*resnet);
    const auto text = [](const std::optional<double>& ratio) {
      return ratio ? std::optional(speed_text(*ratio)) : std::nullopt;
    };
    warm = one.speedup();
    counted = text(ratio_at(resnet->times->means(), *one.ready.executor, "fresh",
                            resnet->times->iterations, &LoopMeanResult::with_preparation_ratio));
    five = text(one.ready.ratio_5);
    twenty = text(one.ready.ratio_20);
  }
  const auto here = [&](bool of_host, const std::optional<std::string>& value) {
    return of_host == on_host ? value : std::nullopt;
  };
  return {{"CPU, warm process", "1.32× to 1.63× faster", here(true, warm), source},
          {"CPU, the compilation counted", "1.06× faster", here(true, counted), source},
          {"CPU, mean of n = 5", "compiled 24.5 s, eager 15.3 s", here(true, five), "report 001"},
          {"CPU, mean of n = 20",
           "compiled 14.2 s, eager 15.0 s; with n = 5, the break-even is near call 17",
           here(true, twenty), "report 001"},
          {"CUDA", "1.18× slower", here(false, warm), "report 001"},
          {"CUDA", "1.3× faster", here(false, warm), "report 003"},
          {"CUDA", "3.0× faster", here(false, warm), "report 002"}};
}

// `figure`: none if the page already shows it.
Section calls_section(const WorkloadCalls& found, std::optional<Block> figure) {
  const IterationTimes& times = *found.times;
  Section section{found.work, {}, /*folded=*/true};
  for (const std::string& sentence : findings_of(times))
    section.blocks.push_back(Paragraph{sentence});
  if (figure) section.blocks.push_back(std::move(*figure));
  section.blocks.push_back(PageTable{
      executors_table(times),
      fmt::format(
          "On {}, {} threads. Fresh: new processes, one executor in each; times are medians over "
          "them, from and to the smallest and largest. Warm: one process that had run everything "
          "once, where executors took turns; from and to are the 95% confidence interval of the "
          "median. Medians leave out the first {} calls.",
          times.work.device, times.work.threads, times.ignored)});
  section.blocks.push_back(PageTable{
      means_table(times), "Means of a loop of n calls. Speedups are against the first executor."});
  section.blocks.push_back(PageTable{stage_table(times), "Preparation before the first output."});
  section.blocks.push_back(PageTable{operations_table(times),
                                     "Operations, and bytes of their operands and results, counted "
                                     "without caches."});
  return section;
}

Section mistakes_section(const std::vector<WorkloadMistakes>& mistakes, std::string_view executor) {
  Section section{"Benchmarking mistakes", {}};
  for (const WorkloadMistakes& found : mistakes)
    section.blocks.push_back(
        found.times
            ? Block(PageTable{
                  naive_table(*found.times),
                  fmt::format("{}, with the executor {}. Each mistake separately, with the 95% "
                              "confidence interval of its ratio; that of n = 5 holds 95% "
                              "of such means. Ratio: where correct and wrong calls took "
                              "turns, the median of their ratios, which may differ from "
                              "the ratio of the medians. All calls were in the lab's own "
                              "process, at another time than those of the first table, so "
                              "the correct latency differs from the median there.",
                              found.work, executor)})
            : Block(Paragraph{fmt::format("{}: {}.", found.work, found.why_not)}));
  return section;
}

// Describes the workloads that were run, in the order of the page.
void describe_calls(const std::vector<WorkloadCalls>& calls,
                    const std::vector<WorkloadMistakes>& mistakes, const LabRun& run,
                    LabReport& report) {
  Document& document = report.document;
  const std::vector<const WorkloadCalls*> models = first_of_models(calls);
  const WorkloadCalls& first = *models.front();
  const auto training = std::ranges::find_if(
      calls, [](const WorkloadCalls& found) { return found.train && found.times; });
  const WorkloadCalls& shown = headline_workload(calls, first);
  document.headline = headline_of(calls, first);
  for (const WorkloadCalls* found : models)
    document.key_figures.push_back({found->work, key_figure_of(*found)});
  const IterationTimes& times = *shown.times;
  document.evidence = fmt::format(
      "{}: medians of {} calls in turn in a warm process, without the first {}, and {} executor; "
      "on {}. Confidence intervals are of the warm process{}.",
      shown.work, times.iterations, times.ignored,
      processes_text(std::ssize(times.executors.front().fresh)),
      processor_text(times.work.device, times.work.threads),
      drifted(times) ? "; they are too narrow, as latency drifted" : "");
  const AgainstInterpreter turns = against_interpreter(calls);
  document.sections.front().blocks.insert(document.sections.front().blocks.begin(),
                                          calls_figure(shown, run, document));
  document.sections.push_back(mistakes_section(mistakes, mode_of(run.context.session()).name));
  Section preparation{"Preparation, stage by stage", {}};
  for (const WorkloadCalls* found : {&shown, training == calls.end() ? &shown : &*training}) {
    if (found == &shown && !preparation.blocks.empty()) continue;
    preparation.blocks.push_back(PageTable{
        preparation_table(*found->times),
        fmt::format("{}: medians of fresh processes. Reading is not part of the first output or of "
                    "the break-even call. Its time includes the start and end of the process, and "
                    "varies between processes.",
                    found->work)});
  }
  document.sections.push_back(std::move(preparation));
  document.sections.push_back(
      {"Fused operations",
       {PageTable{
           operations_table(*first.times),
           fmt::format("{}: operations of each kind, and bytes of their operands and results "
                       "in a call, counted without caches.",
                       first.work)}}});
  if (turns.compared > 0) document.sections.back().blocks.push_back(Paragraph{turns.text() + "."});
  for (const WorkloadCalls& found : calls)
    if (found.times)
      document.sections.push_back(calls_section(
          found,
          &found == &shown ? std::nullopt : std::optional(calls_figure(found, run, document))));
}

}  // namespace

LabReport speed_report(const std::vector<WorkloadCalls>& calls,
                       const std::vector<WorkloadMistakes>& mistakes,
                       const std::vector<SkippedWorkload>& left_out, const LabRun& run) {
  LabReport report;
  report.arithmetic = run.context.values == DType::f32 ? "fp32" : "mixed precision";
  report.data = "random ids without padding, random images, fresh weights";
  SpeedLabFields fields{.overview = overview_of(calls, left_out, run.context)};
  const Table overview = overview_table(fields.overview);
  write_file(run.folder() / "overview.csv", to_csv(overview));
  write_tables(calls, mistakes, run.folder());
  report.document.sections = {
      {"",
       {PageTable{overview,
                  "Speedup: against the first executor, the median of calls in turn with its 95% "
                  "confidence interval. Break-even call: an estimate from medians of the first "
                  "output, the "
                  "second call and later calls; –: none, or no call is shown to be faster. Its "
                  "range, in brackets, takes the smallest and largest of fresh processes; of a "
                  "single process, the 95% interval of later calls; ∞: perhaps never. "
                  "Extrapolated: fewer calls were made. n: by means of "
                  "n calls, preparation and slow calls included, so at the break-even call a mean "
                  "may still be higher."}}}};
  const WorkloadCalls* resnet = nullptr;
  for (const WorkloadCalls& found : calls)
    if (found.times && found.times->work.model == "resnet18" && !found.train) resnet = &found;
  if (first_of_models(calls).empty())
    report.document.headline = fmt::format("{}: {}.", calls.front().work, calls.front().why_not);
  else
    describe_calls(calls, mistakes, run, report);
  report.why = why_of(calls, mistakes, run.context);
  fields.published = published_speeds(resnet, run.context.device->host_accessible());
  report.document.sections.push_back(
      {"Published results",
       {PageTable{
           published_table(fields.published),
           "Other machines and another program, for orientation only. Here: " +
               (resnet != nullptr ? resnet->work : "ResNet-18, which this run did not time") +
               "."}},
       /*folded=*/true});
  for (const WorkloadCalls& found : calls)
    if (found.times) fields.works.push_back({found.work, *found.times});
  for (const WorkloadMistakes& found : mistakes)
    if (found.times) fields.naive.push_back(*found.times);
  report.results = results_of(std::move(fields));
  return report;
}

}  // namespace hone
