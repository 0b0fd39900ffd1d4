#include "hone/cli/pass_watch.h"

#include "hone/base/file.h"
#include "hone/cli/terminal_output.h"
#include "hone/ir/print.h"
#include "hone/jobs/value_kinds.h"

namespace hone {
namespace {

std::string effect_of(const PassRun& run) {
  if (run.skipped) return "left out";
  if (!run.changed) return fmt::format("changed nothing in {:.2f} ms", 1e3 * run.seconds);
  return fmt::format("{} nodes to {} in {:.2f} ms, verified in {:.2f} ms", run.nodes_before,
                     run.nodes_after, 1e3 * run.seconds, 1e3 * run.verify_seconds);
}

// The file's name leaves out the pass's options, which may contain any character.
std::string file_name(std::int64_t number, const std::string& pass) {
  return fmt::format("{:03}-{}.hone", number, pass.substr(0, pass.find('(')));
}

fs::path empty_folder(const fs::path& path) {
  fs::create_directories(path);
  user_check(fs::is_empty(path), "{}: is not empty; --dump_passes wants a folder of its own",
             path.string());
  return path;
}

}  // namespace

Options options_of(const PassArguments*) {
  return {
      Heading::debugging,
      {option<&PassArguments::show>("show_passes",
                                    "print what each graph pass did and how long it took")
           .rare(),
       option<&PassArguments::skipped>("skip_pass", "skip a graph pass; may be repeated")
           .repeated()
           .takes(kPassValue)
           .rare(),
       option<&PassArguments::dump>("dump_passes", "write the graph after each pass to this folder")
           .takes(kOutputFolderValue)
           .rare()}};
}

PassWatch make_watch(const PassArguments& arguments, const PassTable& passes) {
  PassWatch watch;
  for (const std::string& name : arguments.skipped) {
    with_context("--skip_pass", [&] { find_pass(passes, name); });
    watch.skipped.insert(name);
  }
  if (!arguments.show && arguments.dump.empty()) return watch;
  const fs::path folder = arguments.dump.empty() ? fs::path() : empty_folder(arguments.dump);
  watch.on_pass = [folder, show = arguments.show, number = 0](const PassRun& run,
                                                              const Graph& graph) mutable {
    ++number;
    if (show) print_message(fmt::format("pass {}: {}", run.pass, effect_of(run)));
    if (!folder.empty()) write_file(folder / file_name(number, run.pass), to_string(graph));
  };
  return watch;
}

}  // namespace hone
