#include "hone/labs/kernel_lab.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/kernels.h"
#include "hone/labs/other_device.h"

namespace hone {
namespace {

constexpr const char* kChecks = "checks";
constexpr const char* kHowTo =
    "a kernel of yours is a plugin: give it by --plugin; examples/cpu_gelu is one in a page, to be "
    "copied";

Json error_json(const std::optional<KernelError>& error) {
  return error ? Json{{"largest", error->largest}, {"share", error->share}} : Json();
}

Json to_json(const KernelCheck& check) {
  Json sizes = Json::array();
  for (const KernelAtSizes& at : check.sizes)
    sizes.push_back({{"batch", at.bindings.at('B')},
                     {"tokens", at.bindings.at('S')},
                     {"own", error_json(at.own)},
                     {"built_in", error_json(at.built_in)}});
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json times;
  if (check.times) times = to_json(*check.times, "built_in", "own");
  return {{"kernel", check.kernel},
          {"device", check.device},
          {"graph", check.asked.graph},
          {"node", check.asked.node},
          {"operation", check.asked.text},
          {"nodes", check.asked.nodes},
          {"refusal", text(check.refusal)},
          {"built_in", check.built_in},
          {"unchecked", text(check.unchecked)},
          {"right", check.sizes.empty() ? Json() : Json(check.is_right())},
          {"sizes", sizes},
          {"times", times}};
}

Json check_all(LabRun& run, KernelCheckJob job) {
  if (!run.job.model.empty()) job.model = run.job.model;
  job.seed = run.job.seed;
  Json checks = Json::array();
  for (const KernelCheck& check : check_plugin_kernels(job, run.context))
    checks.push_back(to_json(check));
  return {{"model", job.model},
          {"device", device_text(run.context.session())},
          {"threads", run.context.pool.threads()},
          {"batch", job.batch},
          {"tokens", job.tokens},
          {"rounds", job.rounds},
          {"checks", checks}};
}

std::string answer_of(const Json& check) {
  if (check.at("refusal").is_string())
    return "does not support: " + check.at("refusal").get<std::string>();
  return "supports";
}

std::string verdict_of(const Json& check) {
  if (check.at("refusal").is_string()) return "";
  if (check.at("unchecked").is_string())
    return "not checked: " + check.at("unchecked").get<std::string>();
  return check.at("right").get<bool>() ? "right" : "wrong";
}

double worst_share(const Json& check, const char* whose) {
  double worst = 0;
  for (const Json& at : check.at("sizes"))
    if (at.at(whose).is_object()) worst = std::max(worst, at.at(whose).at("share").get<double>());
  return worst;
}

Cell share_cell(const Json& check, const char* whose) {
  const bool measured = std::ranges::any_of(
      check.at("sizes"), [&](const Json& at) { return at.at(whose).is_object(); });
  return measured ? significant(worst_share(check, whose)) : Cell(absent);
}

Table kernels_overview(const Json& found, const OtherDevice& other) {
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
  for (const Json& check : found.at("checks")) {
    std::vector<Cell> row = {check.at("kernel").get<std::string>(),
                             check.at("device").get<std::string>(),
                             check.at("graph").get<std::string>(),
                             check.at("operation").get<std::string>(),
                             check.at("nodes").get<std::int64_t>(),
                             answer_of(check),
                             verdict_of(check).empty() ? Cell(absent) : Cell(verdict_of(check)),
                             share_cell(check, "own"),
                             share_cell(check, "built_in"),
                             check.at("built_in").get<std::string>()};
    const Json& times = check.at("times");
    if (times.is_object()) {
      row.push_back(real(times.at("own").at("median_ms"), 4));
      row.push_back(real(times.at("built_in").at("median_ms"), 4));
      row.push_back(number_within(times.at("speedup"), times.at("speedup_interval")[0],
                                  times.at("speedup_interval")[1]));
    } else {
      row.insert(row.end(), 3, absent);
    }
    table.add_row(std::move(row));
  }
  if (found.at("checks").empty())
    missing(found.at("device").get<std::string>(),
            "not run: no kernel for operations of the model was given");
  missing(other.name, other.why_not);
  return table;
}

// "mine supports gelu f32[B, S, 512] (inference); against the reference it is right; against hone's vector: 0.70× as fast (…)"
std::string sentence_of(const Json& check) {
  const Json& refusal = check.at("refusal");
  std::string text =
      fmt::format("{} {} {} ({}){}", check.at("kernel").get<std::string>(),
                  refusal.is_string() ? "does not support" : "supports",
                  check.at("operation").get<std::string>(), check.at("graph").get<std::string>(),
                  refusal.is_string() ? ": " + refusal.get<std::string>() : "");
  const std::string verdict = verdict_of(check);
  if (!verdict.empty()) text += "; against the reference it is " + verdict;
  const Json& times = check.at("times");
  if (!times.is_object()) return text;
  const Json& ends = times.at("speedup_interval");
  return text +
         fmt::format("; against hone's {}: {}", check.at("built_in").get<std::string>(),
                     speedup_text(Speedup{times.at("speedup").get<double>(),
                                          Interval{ends[0].get<double>(), ends[1].get<double>()}}));
}

LabReport report_kernels(const LabRun& run) {
  const Json &found = run.found.at(kChecks), &checks = found.at("checks");
  const OtherDevice other = other_device(run.context);
  const Table overview = kernels_overview(found, other);
  write_file(run.folder() / "kernels.csv", to_csv(overview));
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "fp32; the reference adds in fp64";
  report.data = "random operands, fresh weights";
  Section first{"", {PageTable{overview, "Your kernels."}}};
  for (const Json& check : checks) first.blocks.push_back(Paragraph{sentence_of(check) + "."});
  document.headline =
      checks.empty() ? fmt::format("Nothing was run: {}", kHowTo) : sentence_of(checks.front());
  for (const Json& check : checks)
    if (check.at("times").is_object()) {
      document.headline = sentence_of(check);
      break;
    }
  document.sections = {
      std::move(first),
      {"How to read this",
       {Paragraph{fmt::format(
           "The kernel is checked for every operation that it supports in {}. Error: the largest "
           "difference from the reference, divided by its largest result, at {} x {}, 1 x 1 and 3 "
           "x "
           "37 texts and tokens; right: at most {:.0e}. Times: at the first sizes, {} rounds in "
           "turn, operands in the caches where they fit.",
           found.at("model").get<std::string>(), found.at("batch").get<std::int64_t>(),
           found.at("tokens").get<std::int64_t>(), kKernelTolerance,
           found.at("rounds").get<std::int64_t>())}},
       /*folded=*/true}};
  report.results = {
      {"device", found.at("device")},
      {"threads", found.at("threads")},
      {"kernels", checks},
      {"not_run", Json::array({Json{{"device", other.name}, {"why_not", other.why_not}}})}};
  return report;
}

KernelCheckJob usual_check(Fidelity fidelity) {
  return {.rounds = fidelity == Fidelity::quick ? 30 : 100};
}

}  // namespace

Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes) {
  return {
      .name = "4.4",
      .title = "a kernel of one's own",
      .costs = "seconds; --plugin FILE gives the kernel",
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
