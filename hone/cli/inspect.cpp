#include "hone/jobs/inspect.h"

#include <fmt/ranges.h>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct InspectArguments {
  InspectJob job;
  bool no_graph = false;
  RunArguments run;
};

// Lines that are broken go on further in. A name that is longer than a line stays whole, to be copied.
std::string graph_text(const std::string& graph, std::size_t columns) {
  constexpr std::size_t kFurtherIn = 4;
  if (columns <= 2 * kFurtherIn) return graph;
  std::vector<std::string> lines;
  for (const std::string& line : split(graph, '\n'))
    lines.push_back(fmt::format("{}", fmt::join(broken_line(line, columns - kFurtherIn),
                                                "\n" + std::string(kFurtherIn, ' '))));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void inspect(InspectArguments& a) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  const InspectResult result = inspect_model(a.job, context);
  if (!a.run.json && !a.no_graph)
    fmt::print("{}\n", graph_text(result.graph, text_style(a.run).columns));
  print("inspect", result, a.run);
}

}  // namespace

Command inspect_command() {
  return {"inspect", "Show the parameters, operations, memory and graph of a model",
          "hone inspect my-model --freeze 'bert.embeddings.*'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<InspectArguments>();
            app.add_option("MODEL", a->job.model, "model folder, tiny, base or a config.json")
                ->required();
            declare_run_size(app, a->job.batch, a->job.tokens);
            declare_freeze(app, a->job.freeze);
            app.add_flag("--verify", a->job.verify,
                         "first check every file against its fingerprint");
            app.add_flag_callback(
                "--added_bits", [job = &a->job] { job->bit_count = BitCount::width_and_fraction; },
                "count width plus fraction as the bits of a format, like MASE");
            app.add_option("--csv", a->job.csv, "file for the table of modules");
            app.add_flag("--overwrite", a->job.overwrite, "replace the file");
            app.add_flag("--no_graph", a->no_graph, "do not print the graph");
            declare(app, a->run);
            return [a] { inspect(*a); };
          }};
}

}  // namespace hone
