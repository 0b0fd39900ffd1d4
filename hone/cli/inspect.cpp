#include "hone/jobs/inspect.h"

#include <fmt/ranges.h>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct InspectArguments {
  InspectJob job;
  bool added_bits = false;
  bool no_graph = false;
  RunArguments run;
};

// Breaks long lines and indents their continuations. A name longer than a line stays whole, so that it can be copied.
std::string graph_text(const std::string& graph, std::size_t columns) {
  constexpr std::size_t kFurtherIn = 4;
  if (columns <= 2 * kFurtherIn) return graph;
  std::vector<std::string> lines;
  for (const std::string& line : split(graph, '\n'))
    lines.push_back(fmt::format("{}", fmt::join(wrapped_line(line, columns - kFurtherIn),
                                                "\n" + std::string(kFurtherIn, ' '))));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void inspect(InspectArguments& a) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  if (a.added_bits) a.job.bit_count = BitCount::width_and_fraction;
  const InspectResult result = inspect_model(a.job, context);
  if (!a.run.json && !a.no_graph)
    fmt::print("{}\n", graph_text(result.graph, text_style(a.run).columns));
  print("inspect", result, a.run);
}

Options options_of(const InspectArguments*) {
  using A = InspectArguments;
  return {model_argument<&A::job, &InspectJob::model>("model folder, tiny, base or a config.json"),
          run_batch_option<&A::job, &InspectJob::batch>(),
          run_tokens_option<&A::job, &InspectJob::tokens>(),
          freeze_option<&A::job, &InspectJob::freeze>(),
          option<&A::job, &InspectJob::verify>("verify",
                                               "first check every file against its fingerprint"),
          option<&A::added_bits>("added_bits",
                                 "count width plus fraction as the bits of a format, like MASE")
              .rare(),
          option<&A::job, &InspectJob::csv>("csv", "file for the table of modules"),
          overwrite_option<&A::job, &InspectJob::overwrite>("replace the file"),
          option<&A::no_graph>("no_graph", "do not print the graph"),
          group<&A::run>(host_options())};
}

}  // namespace

Command inspect_command() {
  return {.name = "inspect",
          .summary = "Show the parameters, operations, memory and graph of a model",
          .example = "hone inspect my-model --freeze 'bert.embeddings.*'",
          .run = runs<InspectArguments, inspect>()};
}

}  // namespace hone
