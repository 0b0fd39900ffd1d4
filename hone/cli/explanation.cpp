#include "hone/cli/explanation.h"

#include "hone/app/choice.h"
#include "hone/app/recipe.h"
#include "hone/base/text.h"
#include "hone/cli/command_line.h"

namespace hone {
namespace {

constexpr double kQuietSnrDb = 20;  // operands above it are not to blame
constexpr std::size_t kShownOperands = 12;

Table shown_operands(const Diagnosis& diagnosis) {
  return diagnosis_table(diagnosis, kQuietSnrDb, kShownOperands);
}

// On the validation part: who takes the better parameters over chooses them there.
std::string improvement(const Diagnosis& diagnosis) {
  if (!diagnosis.improved)
    return "All of them together were not tried: there is no validation part to try them on.";
  const ComparedModel& model = *diagnosis.improved;
  return fmt::format("All of them together, by rounding alone ({}): {}; margin SNR {} dB.",
                     part_text(diagnosis.part, model.measurement.evaluation),
                     model.verdict->summary,
                     display_text(real(model.comparison->margin_snr_db, 1)));
}

std::string caption(const Explanation& explanation) {
  return fmt::format("Where it is lost: each operand alone, the noisiest first, without training{}",
                     explanation.seeds > 1 ? ", and so with every seed" : "");
}

std::string step_note(const NextStep& next) {
  return fmt::format(
      "Step: the smallest magnitude that is not zero.{}",
      next.better_parameters ? " Better: parameters of the same format at no more bits." : "");
}

std::string all_quiet() {
  return fmt::format("Every operand alone keeps {} dB or more.", kQuietSnrDb);
}

// A name beside the output that is not taken.
std::string free_name(const AskedJob& job, const char* ending) {
  const fs::path output = fs::path(job.output) / "";  // with one slash at its end
  const std::string stem = output.parent_path().string() + ending;
  std::string name = stem;
  std::error_code error;
  for (int number = 2; fs::exists(name, error); ++number) name = fmt::format("{}-{}", stem, number);
  return name;
}

}  // namespace

NextStep next_step(const AskedJob& job, const Diagnosis& diagnosis, const Graph& graph) {
  const QuantizationPlan better = with_suggestions(job.options.plan, diagnosis.operands);
  std::map<std::string, std::string> instead = {
      {"explain", ""}, {"resume", ""}, {"overwrite_output_dir", ""}};
  if (better == job.options.plan) {
    constexpr const char* kNone = "No parameters of the same format at no more bits lose less";
    if (job.options.qat) return {fmt::format("{}; more bits may.", kNone)};
    instead.insert({{"qat", "true"}, {"output_dir", free_name(job, "-qat")}});
    return {fmt::format("{}. Training through the quantizers may:", kNone),
            command_line(job.app, instead)};
  }
  constexpr const char* kFile = "better.toml";
  write_file(job.folder / kFile, to_recipe(better, graph));
  const fs::path recipe = (fs::path(job.output) / kFile).lexically_normal();
  instead.insert({{"recipe", recipe.string()},
                  {"format", ""},
                  {"input_format", ""},
                  {"weight_format", ""},
                  {"bias_format", ""},
                  {"output_format", ""},
                  {"rule", ""},
                  {"output_dir", free_name(job, "-better")}});
  return {"The better parameters are saved as a recipe; this quantizes with them:",
          command_line(job.app, instead), /*better_parameters=*/true};
}

std::string to_text(const Explanation& explanation, const TextStyle& style) {
  const auto& [diagnosis, next, seeds] = explanation;
  const Table table = shown_operands(diagnosis);
  std::string text = all_quiet() + "\n";
  if (!table.rows().empty())
    text =
        fmt::format("{}\n\n{}\n{}\n", caption(explanation), to_text(table, style), step_note(next));
  if (next.better_parameters) text += improvement(diagnosis) + "\n";
  text += next.note + "\n";
  return next.command.empty() ? text : text + fmt::format("\n  {}\n", next.command);
}

Section to_section(const Explanation& explanation, std::vector<Block> layers) {
  const auto& [diagnosis, next, seeds] = explanation;
  const Table table = shown_operands(diagnosis);
  Section section{"Where it is lost", std::move(layers)};
  if (table.rows().empty()) {
    section.blocks.push_back(Paragraph{all_quiet()});
  } else {
    section.blocks.push_back(PageTable{table, caption(explanation)});
    section.blocks.push_back(Paragraph{step_note(next)});
  }
  if (next.better_parameters) section.blocks.push_back(Paragraph{improvement(diagnosis)});
  section.blocks.push_back(Paragraph{next.note});
  if (!next.command.empty()) section.blocks.push_back(Preformatted{next.command});
  return section;
}

Json to_json(const Explanation& explanation, const QuantizationPlan& plan, const Graph& graph) {
  const Diagnosis& diagnosis = explanation.diagnosis;
  Json better;
  if (diagnosis.improved) {
    better = to_json(*diagnosis.improved->comparison, *diagnosis.improved->verdict);
    better["part"] = diagnosis.part;
    better["n"] = diagnosis.improved->measurement.evaluation.examples;
  }
  const QuantizationPlan best = with_suggestions(plan, diagnosis.operands);
  Json json = {{"operands", operands_json(diagnosis)},
               {"with_better_parameters", better},
               {"recipe", best == plan ? Json() : Json(to_recipe(best, graph))}};
  if (!explanation.next.command.empty()) json["command"] = explanation.next.command;
  return json;
}

}  // namespace hone
