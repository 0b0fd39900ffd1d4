#include "hone/labs/kernel_lab.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/kernels.h"
#include "hone/labs/example_kernel.h"

namespace hone {
namespace {

constexpr const char* kChecks = "checks";
constexpr const char* kCommands =
    R"(cp -r examples/cpu_gelu my-kernel   # then change accepts, run and the row in HONE_PLUGIN
cmake -S my-kernel -B build-my-kernel -DCMAKE_PREFIX_PATH=$HOME/.local
cmake --build build-my-kernel
hone kernels tiny --train --plugin build-my-kernel/cpu_gelu.so   # what it runs
hone lab 4.4 --plugin build-my-kernel/cpu_gelu.so -o my-kernel-results)";

// ---- the kernel of examples/cpu_gelu, which the lab checks if no plugin adds one

constexpr std::string_view kExample = "examples/cpu_gelu", kExampleName = "the example kernel";

// Returns the part of the example's file that a new kernel changes: all but includes and namespaces.
std::string example_code() {
  constexpr std::string_view kBegin = "using namespace hone;\n\n", kEnd = "}  // namespace\n\n";
  std::string code(example_kernel_source());
  const std::size_t begin = code.find(kBegin), end = code.find(kEnd);
  HONE_ASSERT(begin < end && end != std::string::npos, "{} has another form", kExample);
  code.erase(end, kEnd.size());
  code.erase(0, begin + kBegin.size());
  return code;
}

// Runs `check_plugin_kernels`, with the example temporarily in the table if no kernel was given.
std::vector<KernelCheck> check_kernels(const KernelCheckJob& job, Context& context) {
  KernelTable& kernels = context.library.kernels;
  const bool given = !plugin_kernels(context.library).empty();
  if (given) return check_plugin_kernels(job, context);
  Library example;
  add_example_kernel(example);
  example.kernels.front().name = kExample;
  kernels.insert(kernels.begin(), example.kernels.front());
  std::vector<KernelCheck> checks = check_plugin_kernels(job, context);
  kernels.erase(kernels.begin());
  return checks;
}

LabKernelResult kernel_result(const KernelCheck& check) {
  const auto text = [](const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  LabKernelResult result{.kernel = check.kernel,
                         .device = check.device,
                         .graph = check.operation.graph,
                         .node = check.operation.node,
                         .operation = check.operation.text,
                         .nodes = check.operation.nodes,
                         .refusal = text(check.refusal),
                         .chosen = check.chosen,
                         .built_in = check.built_in,
                         .unchecked = text(check.unchecked)};
  if (!check.sizes.empty()) result.right = check.is_correct();
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
  for (const KernelCheck& check : check_kernels(job, run.context))
    checks.kernels.push_back(kernel_result(check));
  return to_json(checks);
}

std::string answer_of(const LabKernelResult& check) {
  if (check.refusal) return "refused: " + *check.refusal;
  return check.chosen ? "chosen" : "not chosen";
}

std::string verdict_of(const LabKernelResult& check) {
  if (check.refusal) return "";
  if (check.unchecked) return "not checked: " + *check.unchecked;
  return check.right.value_or(false) ? "correct" : "wrong";
}

// Returns the largest error at any size, relative to the largest result.
std::optional<double> own_share(const LabKernelResult& check) {
  std::optional<double> worst;
  for (const LabKernelErrorResult& at : check.sizes)
    worst = std::max(worst.value_or(0), at.own.share);
  return worst;
}

std::optional<double> built_in_share(const LabKernelResult& check) {
  std::optional<double> worst;
  for (const LabKernelErrorResult& at : check.sizes)
    if (at.built_in) worst = std::max(worst.value_or(0), at.built_in->share);
  return worst;
}

Cell share_cell(const std::optional<double>& share) {
  return share ? significant(*share) : Cell(absent);
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
               {"built_in_share", "Error of hone's kernel"},
               {"built_in", "Hone's kernel"},
               {"own_ms", "Median (ms)"},
               {"built_in_ms", "Median of hone's kernel (ms)"},
               {"speedup", "Speedup"}});
  const auto missing = [&](const std::string& device, const std::string& why_not) {
    std::vector<Cell> row(table.columns().size(), absent);
    row[0] = "any";
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
                             share_cell(own_share(check)),
                             share_cell(built_in_share(check)),
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
    missing(found.device, "not run: no plugin has a kernel for its operations");
  missing(other.name, other.why_not);
  return table;
}

bool is_example(const std::vector<LabKernelResult>& kernels) {
  return !kernels.empty() && kernels.front().kernel == kExample;
}

struct KernelSummary {
  std::string name;                ///< "your kernel mine", "your plugin", "the example GELU kernel"
  std::string it = "your kernel";  ///< short for the name
  std::int64_t asked = 0, chosen = 0, checked = 0, correct = 0;  ///< signatures
  std::int64_t nodes = 0;                  ///< operations with these signatures
  double worst_share = 0;                  ///< the largest error of the checked ones
  const LabKernelResult* wrong = nullptr;  ///< the first wrong one; null: none
  const LabKernelResult* timed = nullptr;  ///< the first timed one; null: none, or one is wrong
  std::vector<const LabKernelResult*> all_timed = {};  ///< all timed ones; empty if one is wrong

  /// Returns the operation to show as an example.
  const LabKernelResult* shown() const { return wrong != nullptr ? wrong : timed; }
};

KernelSummary summary_of(const std::vector<LabKernelResult>& kernels) {
  KernelSummary summary{.name = "your kernel " + kernels.front().kernel,
                        .asked = std::ssize(kernels)};
  if (is_example(kernels)) {
    summary.name = "the example GELU kernel";
    summary.it = kExampleName;
  }
  for (const LabKernelResult& check : kernels) {
    if (check.kernel != kernels.front().kernel) summary.name = "your plugin";
    summary.nodes += check.nodes;
    if (check.chosen) ++summary.chosen;
    if (check.right) ++summary.checked;
    summary.worst_share = std::max(summary.worst_share, own_share(check).value_or(0));
    if (check.right == true) ++summary.correct;
    if (check.right == false && summary.wrong == nullptr) summary.wrong = &check;
    if (check.times) summary.all_timed.push_back(&check);
  }
  if (summary.wrong != nullptr) summary.all_timed.clear();
  if (!summary.all_timed.empty()) summary.timed = summary.all_timed.front();
  return summary;
}

std::string operation_of(const LabKernelResult& check) {
  return fmt::format("{} ({})", check.operation, check.graph);
}

std::string error_text(const LabKernelResult& check) {
  return fmt::format("{} of the largest result",
                     three_digits(own_share(check).value_or(std::nan(""))));
}

// Returns "26.4× slower than hone's kernel vector (95% CI 23.8 to 34.9)", to follow "is".
std::string speed_sentence(const LabKernelResult& check) {
  const Speedup& speedup = check.times->speedup;
  const Interval& ends = speedup.interval.value();
  const bool shown = speedup.shown_faster() || speedup.shown_slower();
  return fmt::format("{} than hone's kernel {} (95% CI {})",
                     shown ? speed_text(speedup.value) : "neither shown to be faster nor slower",
                     check.built_in, speed_range_text(ends.low, ends.high));
}

// Returns "kernel vector" or "kernels vector and reference".
std::string built_in_names(const std::vector<const LabKernelResult*>& checks) {
  std::set<std::string> names;
  for (const LabKernelResult* check : checks) names.insert(check->built_in);
  return fmt::format("{} {}", names.size() == 1 ? "kernel" : "kernels", fmt::join(names, " and "));
}

// Returns the speed over all timed signatures: "15.6 to 29.3× slower than hone's kernel vector, depending on the
// signature (95% CIs from 15.3 to 30.7)".
std::string speeds_sentence(const std::vector<const LabKernelResult*>& timed) {
  if (timed.size() == 1) return speed_sentence(*timed.front());
  double least = 0, most = 0, low = 0, high = 0;
  std::size_t faster = 0, slower = 0;
  for (const LabKernelResult* check : timed) {
    const Speedup& speedup = check->times->speedup;
    const Interval& ends = speedup.interval.value();
    const bool is_first = check == timed.front();
    least = is_first ? speedup.value : std::min(least, speedup.value);
    most = is_first ? speedup.value : std::max(most, speedup.value);
    low = is_first ? ends.low : std::min(low, ends.low);
    high = is_first ? ends.high : std::max(high, ends.high);
    if (speedup.shown_faster()) ++faster;
    if (speedup.shown_slower()) ++slower;
  }
  const std::string names = built_in_names(timed);
  if (faster == timed.size() || slower == timed.size())
    return fmt::format("{}× {} than hone's {}, depending on the signature (95% CIs from {})",
                       speed_range_text(least, most), faster > 0 ? "faster" : "slower", names,
                       speed_range_text(low, high));
  return fmt::format(
      "shown to be faster than hone's {} for {} and slower for {} of {} signatures (95% CIs from "
      "{})",
      names, faster, slower, timed.size(), speed_range_text(low, high));
}

bool is_in_graph(const std::vector<LabKernelResult>& kernels, std::string_view graph) {
  return std::ranges::any_of(kernels,
                             [&](const LabKernelResult& check) { return check.graph == graph; });
}

constexpr const char* kHowToAdd =
    "To add a kernel, write a shared library that adds a row (operation, device, accepts, run) to "
    "hone's table of kernels, and pass it with --plugin. ";

// Returns the verdict on the kernel.
std::string verdict_sentence(const KernelChecks& found) {
  if (found.kernels.empty())
    return fmt::format(
        "Nothing was measured: no kernel of a plugin is for an operation of {} on {}.", found.model,
        found.device);
  const KernelSummary all = summary_of(found.kernels);
  const LabKernelResult& first = found.kernels.front();
  const std::string name = capitalized(all.name);
  if (all.checked == 0)
    return first.refusal
               ? fmt::format("{} refuses {}: {}.", name, operation_of(first), *first.refusal)
               : fmt::format("{} was not checked on {}: {}.", name, operation_of(first),
                             first.unchecked.value_or(""));
  if (all.wrong != nullptr)
    return fmt::format(
        "{} is wrong for {} of {} operation signatures: for {}, its largest error is {}, and "
        "{:.0e} is "
        "allowed.",
        name, all.checked - all.correct, all.checked, operation_of(*all.wrong),
        error_text(*all.wrong), kKernelTolerance);
  const std::string correct = fmt::format(
      "{} is chosen for {} of {} operation signatures{}, and correct for the {} that were checked "
      "(error up to {} of the largest result)",
      name, all.chosen, all.asked,
      is_in_graph(found.kernels, kInferenceGraph)
          ? ""
          : ", none of them in the inference graph that hone runs",
      all.checked, three_digits(all.worst_share));
  return all.timed == nullptr
             ? correct + ". hone has no other kernel for them to compare the time with."
             : fmt::format("{}; it is {}.", correct, speeds_sentence(all.all_timed));
}

std::string headline_of(const KernelChecks& found) { return kHowToAdd + verdict_sentence(found); }

std::vector<Fact> key_figures_of(const KernelSummary& all) {
  std::vector<Fact> figures = {
      {"Operation signatures", fmt::format("{} asked ({} nodes), {} chosen, {} correct", all.asked,
                                           all.nodes, all.chosen, all.correct)}};
  if (all.shown() != nullptr) figures.push_back({"Largest error", error_text(*all.shown())});
  if (all.timed == nullptr) return figures;
  const LabKernelTimesResult& times = *all.timed->times;
  figures.push_back(
      {fmt::format("Latency of {}, hone's kernel → {}", operation_of(*all.timed), all.it),
       latency_change_text({.before = times.built_in,
                            .after = times.own,
                            .speedup = times.speedup.value,
                            .speedup_interval = times.speedup.interval.value()})});
  return figures;
}

std::string choice_text(const std::vector<LabKernelResult>& kernels) {
  std::string text =
      "Choice: the first row that accepts an operation runs it. Rows of plugins come before hone's "
      "own, and on the CPU the reference comes last. `hone kernels MODEL --plugin FILE` prints "
      "the kernel of each operation.";
  if (kernels.empty() || is_in_graph(kernels, kInferenceGraph)) return text;
  return text + (is_in_graph(kernels, kUnfusedGraph)
                     ? " The inference graph that hone runs has no such operation, as passes have "
                       "fused it. --skip_pass turns a pass off."
                     : " Only the graph of the training step has such an operation.");
}

std::string correctness_text(const std::vector<LabKernelResult>& kernels) {
  std::string text = fmt::format(
      "Correctness: the reference computes in double, and an error up to {:.0e} of the largest "
      "result counts as correct. Sizes of 1 × 1 and 3 × 37 find mistakes at the ends of vectors "
      "and blocks.",
      kKernelTolerance);
  if (kernels.empty()) return text;
  const KernelSummary all = summary_of(kernels);
  return text + fmt::format(" {} of {} checked signatures are correct.", all.correct, all.checked);
}

// Describes the speed by the interval of the first timed operation.
std::string speed_text_of(const LabKernelResult& check, const std::string& it, int threads) {
  const Speedup& speedup = check.times->speedup;
  std::string measured =
      fmt::format(" For {}, {} is {}. Whether other processes agree was not measured.",
                  operation_of(check), it, speed_sentence(check));
  if (it == kExampleName)
    measured += fmt::format(
        " The example shares ranges of `kGrain` elements among {}.",
        threads == 1 ? "the threads; this run has one" : fmt::format("{} threads", threads));
  if (speedup.shown_faster())
    return measured + " hone bench with and without --plugin shows what a whole model gains.";
  if (speedup.shown_slower())
    return measured +
           (it == kExampleName
                ? " Its loop calls std::erf for each element; hone's kernel computes vectors of "
                  "elements. This run did not measure how much each difference between the two "
                  "takes."
                : " One frequent reason is a call of a library function for each element, which "
                  "keeps the compiler from using vector instructions. hone profile shows how far "
                  "the kernel is from the peak.");
  return measured +
         " The interval contains equal speed, so this run does not show a difference. More rounds "
         "(--fidelity paper) give a narrower interval.";
}

std::string time_text(const KernelChecks& found) {
  std::string text =
      "Time: both kernels run in turn on the same operands, so that a slow phase of the machine "
      "meets both. The speedup is the median of the ratios.";
  if (found.kernels.empty()) return text;
  const KernelSummary all = summary_of(found.kernels);
  return all.timed == nullptr
             ? text
             : text + speed_text_of(*all.timed, all.it, static_cast<int>(found.threads));
}

std::vector<std::string> why_of(const KernelChecks& found) {
  return {
      "A kernel of your own needs a row in hone's table of kernels, which a plugin (a shared "
      "library) adds in HONE_PLUGIN. A row names the operation, the device and the kernel, and has "
      "two functions. accepts reads types and attributes, and returns \"\" or the reason for a "
      "refusal. run reads inputs, asks for the output and computes.",
      choice_text(found.kernels), correctness_text(found.kernels), time_text(found)};
}

// Has no blocks if the example was not measured.
Section example_section(const std::vector<LabKernelResult>& kernels) {
  Section section{"Code of the example kernel", {}};
  if (!is_example(kernels)) return section;
  section.blocks = {
      Paragraph{"This run measured examples/cpu_gelu/cpu_gelu.cpp; includes and namespaces are not "
                "shown. `accepts` refuses other types and the tanh form. `run` takes the pointer "
                "of x before `call.output()`, as y may use the same memory. `parallel_ranges` "
                "shares the ranges among the threads; the loop computes one element at a time. "
                "`HONE_PLUGIN` adds the row, which the table calls examples/cpu_gelu."},
      Preformatted{example_code()}};
  return section;
}

LabReport report_kernels(const LabRun& run) {
  const auto found = from_json<KernelChecks>(run.results.at(kChecks));
  const OtherDevice other = other_device(run.context);
  const Table overview = kernels_overview(found, other);
  write_file(run.folder() / "kernels.csv", to_csv(overview));
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "fp32; the reference computes in fp64";
  report.data = "random operands, fresh weights";
  document.headline = headline_of(found);
  if (!found.kernels.empty()) document.key_figures = key_figures_of(summary_of(found.kernels));
  document.evidence = fmt::format(
      "{} on {}; {} rounds in turn at {} × {} texts and tokens; random operands in fp32; one seed.",
      found.model, processor_text(found.device, found.threads), found.rounds, found.batch,
      found.tokens);
  report.why = why_of(found);
  document.sections = {
      {"",
       {PageTable{overview, is_example(found.kernels)
                                ? "Each operation that the kernel of examples/cpu_gelu is for, in "
                                  "three graphs. A row is a signature: an operation with its "
                                  "types, shapes and attributes. Nodes: operations of the graph "
                                  "that have it. --plugin replaces the kernel with yours."
                                : "Each operation that your kernel is for, in three graphs. A row "
                                  "is a signature: an operation with its types, shapes and "
                                  "attributes. Nodes: operations of the graph that have it."}}},
      example_section(found.kernels),
      {"Write your own kernel",
       {Preformatted{kCommands}},
       /*folded=*/!found.kernels.empty() && !is_example(found.kernels)},
      {"How to read this",
       {Paragraph{fmt::format(
           "Chosen: hone runs this kernel for the operation. Error: the largest difference from "
           "the reference, divided by its largest result, at {} × {}, 1 × 1 and 3 × 37 texts and "
           "tokens; correct: at most {:.0e}. Times: at the first size, {} rounds in turn, operands "
           "in the caches where they fit. Speedup: the median ratio of paired rounds with its 95% "
           "confidence interval; below 1, the kernel of the row is slower.",
           found.batch, found.tokens, kKernelTolerance, found.rounds)}},
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
      field<&K::largest>("max", "Largest absolute error; null: a result is NaN.").or_null(),
      field<&K::share>("share", Unit::ratio, "By the largest result of the reference.").or_null());
  return fields;
}

const Fields& fields_of(const LabKernelErrorResult*) {
  using L = LabKernelErrorResult;
  static const Fields fields = describe<L>(
      "lab_kernel_error", "Errors of results against the reference, at one size.",
      field<&L::batch>("batch", Unit::examples, "B."),
      field<&L::tokens>("tokens", Unit::tokens, "S."), field<&L::own>("own", "Of the kernel."),
      field<&L::built_in>("built_in", "Of hone's kernel; null: that is the reference."));
  return fields;
}

const Fields& fields_of(const LabKernelTimesResult*) {
  using L = LabKernelTimesResult;
  static const Fields fields =
      describe<L>("lab_kernel_times", "Two kernels timed in turn.",
                  field<&L::built_in>("built_in", "hone's kernel, the baseline."),
                  field<&L::own>("own", "Your kernel."), inlined<&L::speedup>());
  return fields;
}

const Fields& fields_of(const LabKernelResult*) {
  using L = LabKernelResult;
  static const Fields fields = describe<L>(
      "lab_kernel", "Your kernel on operations of a model that are alike.",
      field<&L::kernel>("kernel", "Its name."), field<&L::device>("device", "Kind of device."),
      field<&L::graph>("graph", "Graph of the operations."),
      field<&L::node>("node", "The first of them."),
      field<&L::operation>("operation", "The operation with types and attributes."),
      field<&L::nodes>("nodes", "Number of such operations."),
      field<&L::refusal>("refusal", "Reason why they are not supported; null: they are."),
      field<&L::chosen>("chosen", "Whether hone runs it: the first that supports an operation is."),
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
      "kernel_checks", "Your own kernels on a model.", field<&K::model>("model", kModelMeaning),
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
      "lab", "Your own kernel.", inlined<&K::lab>(), field<&K::device>("device", kDeviceMeaning),
      field<&K::threads>("threads", kThreadsMeaning),
      field<&K::kernels>("kernels", "Each of your kernels on each operation that it is for."),
      field<&K::not_run>("not_run", "Devices that it was not run on."));
  return fields;
}

Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes) {
  return {
      .name = "4.4",
      .title = "your own kernel",
      .costs = "seconds; measures the kernel of --plugin FILE, or else an example",
      .question =
          "How do you add your own kernel, is it correct, and is it faster than the built-in one?",
      .stages =
          [sizes](const LabRun& run, const LabRates&) {
            const KernelCheckJob job = sizes(run.job.fidelity);
            return std::vector<LabStage>{{.name = kChecks,
                                          .what = "checks and times the example kernel, or those "
                                                  "of plugins, on a model's operations",
                                          .cost = {.seconds = 2},
                                          .run = [job](LabRun& r) { return check_all(r, job); }}};
          },
      .report = report_kernels,
      .input = LabInput::model};
}

Lab kernel_lab() { return kernel_lab(usual_check); }

}  // namespace hone
