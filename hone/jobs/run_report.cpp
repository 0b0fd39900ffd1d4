#include "hone/jobs/run_report.h"

#include <fmt/chrono.h>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/report/figure_layout.h"
#include "hone/runtime/machine.h"
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

Facts facts_of(const Json& object) {
  Facts facts;
  for (const auto& [name, value] : object.items()) facts.rows.push_back({name, plain_text(value)});
  return facts;
}

Facts machine_facts(const Machine& machine, int threads) {
  Facts facts = {{{"hone", hone_version()},
                  {"Processor", machine.processor},
                  {"Threads", fmt::format("{} of {} processors", threads, machine.processors)},
                  {"Instruction sets",
                   fmt::format("{}; kernels run with {}", fmt::join(machine.instruction_sets, ", "),
                               machine.vector_target)},
                  {"Memory", human_bytes(static_cast<double>(machine.memory.total_bytes))},
                  {"System", machine.system},
                  {"Compiler", machine.compiler}}};
  for (const LibraryVersion& library : machine.libraries)
    facts.rows.push_back({library.name, library.version});
  return facts;
}

// Notes are said behind "note:" as they come; here each stands for itself.
std::string as_sentence(std::string note) {
  if (!note.empty() && note[0] >= 'a' && note[0] <= 'z') note[0] = static_cast<char>(note[0] - 32);
  return note;
}

std::string seeds_text(std::int64_t seeds) {
  if (seeds == 0) return "none: nothing was drawn at random";
  return seeds == 1 ? "1: how far another seed would lie from this was not measured"
                    : std::to_string(seeds);
}

Page page_of(const RunReport& report, const std::string& start, double seconds,
             const Machine& machine, int threads) {
  const Basis& basis = report.basis;
  Page page{.title = report.title, .headline = report.headline, .sections = report.sections};
  page.subtitle = fmt::format("hone {}, {}, took {}", hone_version(), start, clock_text(seconds));
  if (!report.notes.empty()) {
    Section notes{"Notes", {}};
    for (const std::string& note : report.notes)
      notes.blocks.push_back(Paragraph{as_sentence(note)});
    page.sections.push_back(notes);
  }
  page.sections.push_back({"What this stands on",
                           {Facts{{{"Arithmetic", basis.arithmetic},
                                   {"Seeds", seeds_text(basis.seeds)},
                                   {"Data", basis.data},
                                   {"Parts", basis.splits},
                                   {"Protocol", basis.protocol}}}}});
  page.sections.push_back({"To get it again", {Preformatted{report.invocation.command}}});
  page.sections.push_back({"Settings", {facts_of(report.invocation.settings)}, /*folded=*/true});
  page.sections.push_back({"Machine", {machine_facts(machine, threads)}, /*folded=*/true});
  return page;
}

}  // namespace

std::string data_text(const std::string& source, const DataIdentity& identity) {
  if (identity.hash.empty()) return source;
  return fmt::format("{}; {} texts, fingerprint {}", source, grouped(identity.rows), identity.hash);
}

Basis basis_without_texts(std::string_view arithmetic) {
  return {std::string(arithmetic), 0, "none: no text was read", "none",
          "nothing was chosen, and no answer was measured"};
}

Basis basis_of(const std::string& source, const EncodedSplits& data, std::string arithmetic,
               std::int64_t seeds) {
  std::string splits;
  for (const PartFacts& facts : data.identity.parts)
    splits += fmt::format("{}{} {}", splits.empty() ? "" : ", ", facts.part, grouped(facts.rows));
  splits += " texts";
  if (data.validation.size() > 0) splits += fmt::format("; validation: {}", data.validation_source);
  for (const PartFacts& facts : data.identity.parts)
    if (!facts.sample.empty() && facts.part != "validation")
      splits += fmt::format("; {}: {}", facts.part, facts.sample);
  const bool honest = data.protocol == Protocol::honest;
  return {std::move(arithmetic), seeds, data_text(source, data.identity), splits,
          honest ? "choices are made on the validation part (honest)"
                 : "choices are made on the test part, so its figures flatter (original)"};
}

void write_run_report(const RunReport& report, const fs::path& folder, const Context& context) {
  const Machine machine = this_machine();
  const std::string start = utc_text(report.invocation.start);
  const double seconds =
      std::chrono::duration<double>(std::chrono::system_clock::now() - report.invocation.start)
          .count();
  const std::string& command = report.invocation.name;
  Json machine_json = to_json(machine);
  machine_json["threads"] = context.pool.threads();
  write_file(folder / "settings.json",
             to_document(result_of(command, {{"command_line", report.invocation.command},
                                             {"settings", report.invocation.settings},
                                             {"start", start},
                                             {"seconds", seconds}})));
  write_file(folder / "machine.json", to_document(result_of(command, machine_json)));
  if (!report.results.is_null()) write_results(command, report.results, folder);
  std::string log = fmt::format("{} {}\n", start, report.invocation.command);
  for (const std::string& note : report.notes) log += note + "\n";
  write_file(folder / "run.log", log + fmt::format("done after {}\n", clock_text(seconds)));
  write_file(folder / "report.html",
             to_html(page_of(report, start, seconds, machine, context.pool.threads())));
}

Block figure_block(const Figure& figure, const fs::path& stem, const std::string& description,
                   std::vector<std::string>& notes) {
  try {
    write_figure(figure, stem);
    // The page's caption says what the title says.
    Figure wide = figure;
    wide.title.clear();
    const fs::path folder = stem.parent_path();
    const std::optional<Figure> narrow = narrow_figure(wide);
    return PageFigure{draw_svg(wide, folder), narrow ? draw_svg(*narrow, folder) : "", description,
                      figure.title};
  } catch (const UserError& error) {
    notes.push_back(fmt::format("{} was not drawn: {}", stem.filename().string(), error.what()));
    return Paragraph{notes.back()};
  }
}

}  // namespace hone
