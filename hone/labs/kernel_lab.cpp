#include "hone/labs/kernel_lab.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/kernels.h"

namespace hone {
namespace {

constexpr const char* kChecks = "checks";
constexpr const char* kHowTo =
    "a kernel of yours is a plugin: give it by --plugin; examples/cpu_gelu is one in a page, to be "
    "copied";

LabKernelResult kernel_result(const KernelCheck& check) {
  const auto text = [](const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  LabKernelResult result{.kernel = check.kernel,
                         .device = check.device,
                         .graph = check.asked.graph,
                         .node = check.asked.node,
                         .operation = check.asked.text,
                         .nodes = check.asked.nodes,
                         .refusal = text(check.refusal),
                         .built_in = check.built_in,
                         .unchecked = text(check.unchecked)};
  if (!check.sizes.empty()) result.right = check.is_right();
  for (const KernelAtSizes& at : check.sizes)
    result.sizes.push_back({.batch = at.bindings.at('B'),
                            .tokens = at.bindings.at('S'),
                            .own = at.own,
                            .built_in = at.built_in});
  if (check.times)
    result.times = {.built_in = check.times->before,
                    .own = check.times->after,
                    .speedup = check.times->ratio()};
  return result;
}

Json check_all(LabRun& run, KernelCheckJob job) {
  if (!run.job.model.empty()) job.model = run.job.model;
  job.seed = run.job.seed;
  KernelChecks checks{.model = job.model,
                      .device = device_text(run.context.session()),
                      .threads = run.context.pool.threads(),
                      .batch = job.batch,
                      .tokens = job.tokens,
                      .rounds = job.rounds};
  for (const KernelCheck& check : check_plugin_kernels(job, run.context))
    checks.kernels.push_back(kernel_result(check));
  return to_json(checks);
}

std::string answer_of(const LabKernelResult& check) {
  return check.refusal ? "does not support: " + *check.refusal : "supports";
}

std::string verdict_of(const LabKernelResult& check) {
  if (check.refusal) return "";
  if (check.unchecked) return "not checked: " + *check.unchecked;
  return check.right.value_or(false) ? "right" : "wrong";
}

Cell own_share(const LabKernelResult& check) {
  if (check.sizes.empty()) return absent;
  double worst = 0;
  for (const LabKernelErrorResult& at : check.sizes) worst = std::max(worst, at.own.share);
  return significant(worst);
}

Cell built_in_share(const LabKernelResult& check) {
  std::optional<double> worst;
  for (const LabKernelErrorResult& at : check.sizes)
    if (at.built_in) worst = std::max(worst.value_or(0), at.built_in->share);
  return worst ? significant(*worst) : Cell(absent);
}

Table kernels_overview(const KernelChecks& found, const OtherDevice& other) {
  Table table({{"kernel", "Kernel"},
               {"device", "Device"},
               {"graph", "Graph"},
               {"operation", "Operation"},
               {"nodes", "Nodes"},
               {"answer", "Answer"},
               {"verdict", "Result"},
               {"own_share", "Error"},
               {"built_in_share", "Error of hone's"},
               {"built_in", "Hone's"},
               {"own_ms", "Median (ms)"},
               {"built_in_ms", "Median of hone's (ms)"},
               {"speedup", "Speedup"}});
  const auto missing = [&](const std::string& device, const std::string& why_not) {
    std::vector<Cell> row(table.columns().size(), absent);
    row[0] = "yours";
    row[1] = device;
    row[5] = why_not;
    table.add_row(std::move(row));
  };
  for (const LabKernelResult& check : found.kernels) {
    std::vector<Cell> row = {check.kernel,
                             check.device,
                             check.graph,
                             check.operation,
                             check.nodes,
                             answer_of(check),
                             verdict_of(check).empty() ? Cell(absent) : Cell(verdict_of(check)),
                             own_share(check),
                             built_in_share(check),
                             check.built_in};
    if (check.times) {
      row.push_back(real(check.times->own.median_ms, 4));
      row.push_back(real(check.times->built_in.median_ms, 4));
      row.push_back(speedup_cell(check.times->speedup));
    } else {
      row.insert(row.end(), 3, absent);
    }
    table.add_row(std::move(row));
  }
  if (found.kernels.empty())
    missing(found.device, "not run: no kernel for operations of the model was given");
  missing(other.name, other.why_not);
  return table;
}

// "mine supports gelu f32[B, S, 512] (inference); against the reference it is right; against hone's vector: 1.43× slower (…)"
std::string sentence_of(const LabKernelResult& check) {
  std::string text =
      fmt::format("{} {} {} ({}){}", check.kernel, check.refusal ? "does not support" : "supports",
                  check.operation, check.graph, check.refusal ? ": " + *check.refusal : "");
  const std::string verdict = verdict_of(check);
  if (!verdict.empty()) text += "; against the reference it is " + verdict;
  if (!check.times) return text;
  return text +
         fmt::format("; against hone's {}: {}", check.built_in, speedup_text(check.times->speedup));
}

LabReport report_kernels(const LabRun& run) {
  const auto found = from_json<KernelChecks>(run.found.at(kChecks));
  const OtherDevice other = other_device(run.context);
  const Table overview = kernels_overview(found, other);
  write_file(run.folder() / "kernels.csv", to_csv(overview));
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "fp32; the reference adds in fp64";
  report.data = "random operands, fresh weights";
  Section first{"", {PageTable{overview, "Your kernels."}}};
  for (const LabKernelResult& check : found.kernels)
    first.blocks.push_back(Paragraph{sentence_of(check) + "."});
  const auto timed = std::ranges::find_if(
      found.kernels, [](const LabKernelResult& check) { return check.times.has_value(); });
  document.headline = timed != found.kernels.end() ? sentence_of(*timed)
                      : found.kernels.empty()      ? fmt::format("Nothing was run: {}", kHowTo)
                                                   : sentence_of(found.kernels.front());
  document.sections = {
      std::move(first),
      {"How to read this",
       {Paragraph{fmt::format(
           "The kernel is checked for every operation that it supports in {}. Error: the largest "
           "difference from the reference, divided by its largest result, at {} x {}, 1 x 1 and 3 "
           "x "
           "37 texts and tokens; right: at most {:.0e}. Times: at the first sizes, {} rounds in "
           "turn, operands in the caches where they fit.",
           found.model, found.batch, found.tokens, kKernelTolerance, found.rounds)}},
       /*folded=*/true}};
  report.results = results_of(KernelLabFields{.device = found.device,
                                              .threads = found.threads,
                                              .kernels = found.kernels,
                                              .not_run = {other}});
  return report;
}

KernelCheckJob usual_check(Fidelity fidelity) {
  return {.rounds = fidelity == Fidelity::quick ? 30 : 100};
}

}  // namespace

const Fields& fields_of(const KernelError*) {
  using K = KernelError;
  static const Fields fields = describe<K>(
      "kernel_error", "A difference from the reference.",
      field<&K::largest>("max", "Largest absolute one; null: a result is no number.").or_null(),
      field<&K::share>("share", Unit::ratio, "By the largest result of the reference.").or_null());
  return fields;
}

const Fields& fields_of(const LabKernelErrorResult*) {
  using L = LabKernelErrorResult;
  static const Fields fields = describe<L>(
      "lab_kernel_error", "How far results are from those of the reference, at one size.",
      field<&L::batch>("batch", Unit::examples, "B."),
      field<&L::tokens>("tokens", Unit::tokens, "S."), field<&L::own>("own", "Of the kernel."),
      field<&L::built_in>("built_in", "Of hone's kernel; null: that is the reference."));
  return fields;
}

const Fields& fields_of(const LabKernelTimesResult*) {
  using L = LabKernelTimesResult;
  static const Fields fields =
      describe<L>("lab_kernel_times", "Two kernels timed in turn.",
                  field<&L::built_in>("built_in", "Hone's kernel, the baseline."),
                  field<&L::own>("own", "The kernel of one's own."), inlined<&L::speedup>());
  return fields;
}

const Fields& fields_of(const LabKernelResult*) {
  using L = LabKernelResult;
  static const Fields fields = describe<L>(
      "lab_kernel", "A kernel of one's own on operations of a model that are alike.",
      field<&L::kernel>("kernel", "Its name."), field<&L::device>("device", "Kind of device."),
      field<&L::graph>("graph", "Graph of the operations."),
      field<&L::node>("node", "The first of them."),
      field<&L::operation>("operation", "The operation with types and attributes."),
      field<&L::nodes>("nodes", "Number of such operations."),
      field<&L::refusal>("refusal", "Reason why they are not supported; null: they are."),
      field<&L::built_in>("built_in", "Kernel that runs them without it."),
      field<&L::unchecked>("unchecked",
                           "Reason why it was not checked against the reference; null: it was."),
      field<&L::right>("right", "Whether all errors are within 1e-5; null: not checked."),
      field<&L::sizes>("sizes", "Errors at each size."),
      field<&L::times>("times", "In turn with hone's kernel; null: not timed."));
  return fields;
}

const Fields& fields_of(const KernelChecks*) {
  using K = KernelChecks;
  static const Fields fields = describe<K>(
      "kernel_checks", "Kernels of one's own on a model.", field<&K::model>("model", kModelMeaning),
      field<&K::device>("device", kDeviceMeaning), field<&K::threads>("threads", kThreadsMeaning),
      field<&K::batch>("batch", Unit::examples, "Of what is timed."),
      field<&K::tokens>("tokens", Unit::tokens, "Of what is timed."),
      field<&K::rounds>("rounds", "Rounds that count."),
      field<&K::kernels>("kernels", "Each kernel on each operation that it is for."));
  return fields;
}

const Fields& fields_of(const KernelLabFields*) {
  using K = KernelLabFields;
  static const Fields fields = describe<K>(
      "lab", "A kernel of one's own.", inlined<&K::lab>(),
      field<&K::device>("device", kDeviceMeaning), field<&K::threads>("threads", kThreadsMeaning),
      field<&K::kernels>("kernels", "Each kernel of one's own on each operation that it is for."),
      field<&K::not_run>("not_run", "Devices that it was not run on."));
  return fields;
}

Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes) {
  return {
      .name = "4.4",
      .title = "a kernel of one's own",
      .costs = "seconds; --plugin FILE gives the kernel",
      .question =
          "How do you add a kernel of your own, and does it agree with the built-in one and outrun "
          "it?",
      .stages =
          [sizes](const LabRun& run, const LabRates&) {
            const KernelCheckJob job = sizes(run.job.fidelity);
            return std::vector<LabStage>{
                {.name = kChecks,
                 .what =
                     "asks kernels of plugins about a model's operations, checks and times them",
                 .cost = {.seconds = 2},
                 .run = [job](LabRun& r) { return check_all(r, job); }}};
          },
      .report = report_kernels,
      .input = LabInput::model};
}

Lab kernel_lab() { return kernel_lab(usual_check); }

}  // namespace hone
