#include "hone/jobs/explanation.h"

#include "hone/base/text.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/recipe.h"

namespace hone {
namespace {

constexpr double kQuietSnrDb = 20;  // operands above it lose little
constexpr std::size_t kShownOperands = 12;

Table shown_operands(const Diagnosis& diagnosis) {
  return diagnosis_table(diagnosis, kQuietSnrDb, kShownOperands);
}

// Measured on the validation split, because it decides whether to use the remedy.
std::string improvement(const Diagnosis& diagnosis) {
  const char* remedy = diagnosis.remedy.better_parameters ? "With all better parameters"
                                                          : "With the noisiest in full precision";
  if (!diagnosis.improved)
    return fmt::format("{}: not tried, because there is no validation split.", remedy);
  const ComparedModel& model = *diagnosis.improved;
  return fmt::format("{}, by rounding alone ({}): {}; {} {} dB.", remedy,
                     split_text(diagnosis.split, model.measurement.evaluation),
                     model.verdict->summary,
                     model.comparison->change.metric == kAccuracy ? "margin SNR" : "output SNR",
                     display_text(real(model.comparison->snr_db, 1)));
}

std::string caption(const Explanation& explanation) {
  return fmt::format("Each operand quantized alone, the noisiest first, without training{}.",
                     explanation.seeds > 1 ? "; the same for every seed" : "");
}

std::string step_note(const Diagnosis& diagnosis) {
  return fmt::format("Step: the smallest magnitude that is not zero.{}",
                     diagnosis.remedy.better_parameters
                         ? " Better: other parameters of the same format at no more bits."
                         : "");
}

std::string all_quiet() {
  return fmt::format("Every operand quantized alone has an SNR of {} dB or more.", kQuietSnrDb);
}

std::size_t operands_of(const QuantizationPlan& plan) {
  std::size_t count = 0;
  for (const auto& [layer, formats] : plan)
    for (const Operand operand : kOperands) count += formats[operand].has_value() ? 1 : 0;
  return count;
}

}  // namespace

NextStep next_step(const RequestedJob& job, const Diagnosis& diagnosis, const Graph& graph) {
  const Remedy& remedy = diagnosis.remedy;
  std::map<std::string, std::string> instead = {
      {"explain", ""}, {"resume", ""}, {"overwrite_output_dir", ""}};
  constexpr const char* kNone = "No other parameters of this format lose less at the same bits";
  if (remedy.plan.empty()) return {fmt::format("{}; a wider format may.", kNone)};
  const char* file = remedy.better_parameters ? "better.toml" : "wider.toml";
  write_file(job.folder / file, to_recipe(remedy.plan, graph));
  const std::string recipe = (fs::path(job.output) / file).lexically_normal().string();
  const std::size_t all = operands_of(job.options.plan);
  instead.insert(
      {{"recipe", recipe},
       {"format", ""},
       {"input_format", ""},
       {"weight_format", ""},
       {"bias_format", ""},
       {"output_format", ""},
       {"rule", ""},
       {"output_dir", unused_name(job.output, remedy.better_parameters ? "-better" : "-wider")}});
  const std::string command =
      job.invocation.command_with ? job.invocation.command_with(instead) : "";
  if (remedy.better_parameters)
    return {"The better parameters are saved as a recipe. To quantize with them:", command};
  const std::string training =
      job.options.qat
          ? ""
          : fmt::format(", or training through the quantizers ({})", job.invocation.setting("qat"));
  return {fmt::format("{}. More bits may{}. A recipe that leaves the {} noisiest of {} operands in "
                      "full precision is saved. To quantize with it:",
                      kNone, training, all - operands_of(remedy.plan), all),
          command};
}

Section to_section(const Explanation& explanation, std::vector<Block> layers) {
  const auto& [diagnosis, next, seeds] = explanation;
  const Table table = shown_operands(diagnosis);
  Section section{"Where accuracy is lost", std::move(layers)};
  if (table.rows().empty()) {
    section.blocks.push_back(Paragraph{all_quiet()});
  } else {
    section.blocks.push_back(PageTable{table, caption(explanation)});
    section.blocks.push_back(Paragraph{step_note(diagnosis)});
  }
  if (!diagnosis.remedy.plan.empty()) section.blocks.push_back(Paragraph{improvement(diagnosis)});
  section.blocks.push_back(Paragraph{next.note});
  if (!next.command.empty()) section.blocks.push_back(Preformatted{next.command});
  return section;
}

const Fields& fields_of(const SplitComparisonResult*) {
  using S = SplitComparisonResult;
  static const Fields fields =
      describe<S>("split_comparison", "A comparison with the split it was made on.",
                  inlined<&S::comparison>(), field<&S::split>("split", "Name of the split."),
                  field<&S::examples>("n", Unit::examples, "Examples of the split."));
  return fields;
}

const Fields& fields_of(const DiagnosisResult*) {
  using D = DiagnosisResult;
  static const Fields fields = describe<D>(
      "diagnosis", "Where accuracy is lost.",
      field<&D::operands>("operands",
                          "What each quantized operand loses alone, the noisiest first."),
      field<&D::with_better_parameters>(
          "with_better_parameters",
          "All better parameters together, by rounding alone, compared with the baseline on the "
          "split where choices are made. Null: none are better, or there is no such split."),
      field<&D::with_noisiest_in_full_precision>(
          "with_noisiest_in_full_precision",
          "The same with the noisiest quarter of the operands in full precision. Null: better "
          "parameters were tried, there is no such split, or nothing else is quantized."),
      field<&D::recipe>("recipe",
                        "A recipe (TOML): the better parameters, or else the "
                        "noisiest quarter of the operands in full precision. Null: nothing else "
                        "is quantized."),
      field<&D::command>("command", "A command that quantizes with the recipe; null without one."));
  return fields;
}

DiagnosisResult diagnosis_result(const Explanation& explanation, const Graph& graph) {
  const Diagnosis& diagnosis = explanation.diagnosis;
  const Remedy& remedy = diagnosis.remedy;
  DiagnosisResult result{.operands = operand_results(diagnosis)};
  if (diagnosis.improved) {
    const ComparedModel& improved = *diagnosis.improved;
    (remedy.better_parameters ? result.with_better_parameters
                              : result.with_noisiest_in_full_precision) = SplitComparisonResult{
        .comparison = comparison_result(*improved.comparison, *improved.verdict),
        .split = diagnosis.split,
        .examples = improved.measurement.evaluation.examples};
  }
  if (!remedy.plan.empty()) result.recipe = to_recipe(remedy.plan, graph);
  if (!explanation.next.command.empty()) result.command = explanation.next.command;
  return result;
}

}  // namespace hone
