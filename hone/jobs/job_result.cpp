#include "hone/jobs/job_result.h"

#include <fmt/chrono.h>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/next_commands.h"
#include "hone/passes/quantize.h"
#include "hone/report/figure_layout.h"
#include "hone/report/inline_code.h"
#include "hone/runtime/machine.h"
#include "hone/runtime/run_passes.h"
#include "hone/study/result.h"

namespace hone {
namespace {

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : to_line(value);
}

// Shows changed settings only, since most have their defaults.
Section settings_section(const Invocation& invocation) {
  Facts changed;
  for (const auto& [name, value] : invocation.settings.items())
    if (!invocation.defaults.contains(name) || invocation.defaults[name] != value)
      changed.rows.push_back({name, plain_text(value)});
  const std::size_t all = invocation.settings.size();
  std::vector<Block> blocks;
  if (changed.rows.size() < all)
    blocks.push_back(Paragraph{
        fmt::format("Settings that differ from their defaults; settings.json has all {}.", all)});
  blocks.push_back(std::move(changed));
  return {"Settings", std::move(blocks), /*folded=*/true};
}

Facts machine_facts(const Machine& machine, const std::string& device) {
  Facts facts = {
      {{"hone", machine.hone},
       {"Device", device},
       {"Processor", machine.processor},
       {"Threads", fmt::format("{} of {} processors", machine.threads, machine.processors)},
       {"Instruction sets",
        fmt::format("{}; kernels run with {}", fmt::join(machine.instruction_sets, ", "),
                    machine.vector_target)},
       {"Memory", human_bytes(static_cast<double>(machine.memory_bytes))},
       {"System", machine.system},
       {"Compiler", machine.compiler}}};
  for (const auto& [name, version] : machine.libraries) facts.rows.push_back({name, version});
  return facts;
}

std::string seeds_text(std::int64_t seeds) {
  if (seeds < 0) return "";
  if (seeds == 0) return "none; nothing is random";
  return seeds == 1 ? "1; variation over seeds was not measured" : std::to_string(seeds);
}

Facts conditions_of(const Basis& basis) {
  Facts facts{{{"Arithmetic", basis.arithmetic},
               {"Seeds", seeds_text(basis.seeds)},
               {"Data", basis.data},
               {"Splits", basis.splits},
               {"Protocol", basis.protocol}}};
  std::erase_if(facts.rows, [](const auto& fact) { return fact.value.empty(); });
  return facts;
}

// Replaces settings in backticks by command-line options, as in messages on the terminal.
std::string with_options(std::string_view text, const Json& settings) {
  std::string result;
  for (const InlinePart& part : inline_parts(text)) {
    const bool is_option = part.is_code && settings.contains(std::string(part.text));
    result += !part.is_code ? std::string(part.text)
                            : fmt::format("`{}{}`", is_option ? "--" : "", part.text);
  }
  return result;
}

// Replaces fp32 by the type of values that floats were computed in.
std::string arithmetic_in(const std::string& arithmetic, DType values) {
  if (values == DType::f32) return arithmetic;
  const std::string name(values == DType::bf16 ? kBfloat16 : kFloat16);
  if (arithmetic == kFloat || arithmetic == name) return name;
  return fmt::format("{}, values in {}", arithmetic, name);
}

// Returns the document with the sections that end every report.
Document whole(const JobResult& result, const Invocation& invocation, const std::string& start,
               double seconds, const Machine& machine, const std::string& device) {
  Document whole = result.document;
  whole.next = on_device(result.document.next, invocation.settings.value("device", "cpu"),
                         invocation.settings.value("precision", "fp32"));
  whole.subtitle = fmt::format("hone {}, {}, took {}", hone_version(), start, clock_text(seconds));
  for (std::string& note : whole.notes) note = capitalized(with_options(note, invocation.settings));
  for (Section& section : whole.sections)
    for (Block& block : section.blocks)
      if (auto* paragraph = std::get_if<Paragraph>(&block))
        paragraph->text = with_options(paragraph->text, invocation.settings);
  whole.sections.push_back({kConditions, {conditions_of(result.basis)}});
  whole.sections.push_back({"Run it again", {Preformatted{invocation.command}}});
  whole.sections.push_back(settings_section(invocation));
  whole.sections.push_back({"Machine", {machine_facts(machine, device)}, /*folded=*/true});
  return whole;
}

}  // namespace

const Fields& fields_of(const SettingsFields*) {
  using S = SettingsFields;
  static const Fields fields = describe<S>(
      "settings.json",
      "How a job was run, in every output folder. `results.json` in the same folder contains the "
      "result.",
      field<&S::command_line>("command_line", "A command line that repeats the job."),
      field<&S::settings>("settings",
                          "Every argument with its value, given or default; flags are booleans."),
      field<&S::device>("device",
                        "Device that ran graphs, with settings that results depend on: cpu:0; "
                        "cuda:0, NVIDIA H100 80GB HBM3, products of fp32 in fp32, values in bf16."),
      field<&S::start>("start", Unit::utc, "When it began, ISO 8601."),
      field<&S::seconds>("seconds", Unit::seconds, "How long it took."));
  return fields;
}

std::string data_text(const std::string& source, const DataIdentity& identity) {
  if (identity.hash.empty()) return source;
  return fmt::format("{}; {} texts, fingerprint {}", source, grouped(identity.rows), identity.hash);
}

Basis basis_without_texts(std::string_view arithmetic) {
  return {std::string(arithmetic), 0, "none: no text was read", "none",
          "nothing was chosen or evaluated"};
}

Basis basis_of(const std::string& source, const EncodedSplits& data, std::string arithmetic,
               std::int64_t seeds) {
  std::string splits;
  for (const SplitFacts& facts : data.identity.splits)
    splits += fmt::format("{}{} {}", splits.empty() ? "" : ", ", facts.split, grouped(facts.rows));
  splits += " texts";
  if (data.validation.size() > 0)
    splits += fmt::format("; validation: {}", data.validation_source.text);
  for (const SplitFacts& facts : data.identity.splits)
    if (!facts.sample.empty() && facts.split != "validation")
      splits += fmt::format("; {}: {}", facts.split, facts.sample);
  const char* protocol = data.protocol != Protocol::honest
                             ? "choices are made on the test split, so its numbers are too good"
                         : data.measured.facts.split == "validation"
                             ? "choices are made on the validation split, and so are results"
                             : "choices are made on the validation split";
  return {std::move(arithmetic), seeds, data_text(source, data.identity), splits, protocol};
}

void write_report(const JobResult& result, const Invocation& invocation, const fs::path& folder,
                  const Context& context) {
  const Machine machine = this_machine(context.pool.threads());
  const std::string start = utc_text(invocation.start);
  const std::chrono::duration<double> now = std::chrono::system_clock::now() - invocation.start;
  const double seconds = result.seconds_before + now.count();
  const SettingsFields settings{.command_line = invocation.command,
                                .settings = invocation.settings,
                                .device = device_text(*context.device, context.values),
                                .start = start,
                                .seconds = seconds};
  write_file(folder / "settings.json", to_document(result_of(invocation.name, to_json(settings))));
  write_file(folder / "machine.json", to_document(result_of(invocation.name, to_json(machine))));
  if (!result.fields.is_null()) write_results(invocation.name, result.fields, folder);
  std::string log = fmt::format("{} {}\n", start, invocation.command);
  for (const std::string& note : result.document.notes) log += note + "\n";
  write_file(folder / "run.log", log + fmt::format("done after {}\n", clock_text(seconds)));
  JobResult computed = result;
  computed.basis.arithmetic = arithmetic_in(result.basis.arithmetic, context.values);
  const Document document = whole(computed, invocation, start, seconds, machine, settings.device);
  write_file(folder / "report.html", to_html(document));
  write_file(folder / "report.md", to_markdown(document));
}

Block figure_block(const Figure& figure, const fs::path& stem, const std::string& description,
                   std::vector<std::string>& notes) {
  try {
    write_figure(figure, stem);
    // The caption of the page repeats the title.
    Figure wide = figure;
    wide.title.clear();
    const fs::path folder = stem.parent_path();
    const std::optional<Figure> narrow = narrow_figure(wide);
    std::string caption = figure.title;
    const auto add = [&](const std::string& sentence) {
      if (!caption.empty()) caption += caption.ends_with('.') ? " " : ". ";
      caption += sentence;
    };
    if (!figure.note.empty()) add(figure.note);
    if (moves_points(wide, lay_out(wide)) || (narrow && moves_points(*narrow, lay_out(*narrow))))
      add("Points that would cover each other are moved sideways.");
    return PageFigure{draw_svg(wide, folder), narrow ? draw_svg(*narrow, folder) : "", description,
                      caption, stem.filename().string() + ".svg"};
  } catch (const UserError& error) {
    notes.push_back(fmt::format("{} was not drawn: {}", stem.filename().string(), error.what()));
    return Paragraph{notes.back()};
  }
}

}  // namespace hone
