#include "hone/jobs/shrink/shrink_models.h"

#include "hone/base/text.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/runtime/run_passes.h"

namespace hone {
namespace {

ShrunkModel write_and_measure(const ShrinkFindings& f, const TextModel& made,
                              const std::string& name, const Measurement& before,
                              const fs::path& output, Context& context) {
  ShrunkModel written{
      .name = name, .model = made.model, .both = {}, .size_and_time = {}, .arithmetic = {}};
  written.both = measure_after(made.model, before, f.subject.data, f.job.eval_batch_size, f.gates,
                               context, /*title=*/"", f.corrected_evaluations());
  if (!f.proven)
    overrule(written.both, f.points[*f.chosen].measured->missed, [&](const Verdict& verdict) {
      const std::string text = "it is not shown to be within the limit";
      if (!f.is_measured_where_chosen())
        return fmt::format("{} on {}, which decides", text, f.made_on());
      const bool alone = verdict.change_interval && verdict.change_interval->low >= -verdict.margin;
      return alone ? fmt::format("{}, as the test is corrected for {} comparisons", text,
                                 verdict.candidates)
                   : text;
    });
  written.arithmetic = arithmetic_of_run(forward_graph(made.model), context.session());
  const fs::path folder = output / name;
  fs::create_directories(folder);
  write_model(made, folder);
  written.size_and_time =
      size_and_time(f.original, f.data.test, made.model, f.subject.data.test, folder, context);
  written.size_and_time.models =
      fmt::format("{} {}", shell_word(f.job.model),
                  shell_word(fmt::format("{}/{}", f.job.output.folder, name)));
  return written;
}

}  // namespace

std::vector<ShrunkModel> write_shrunk(const ShrinkFindings& f, const TextModel& made,
                                      const fs::path& output, std::vector<std::string>& notes,
                                      Context& context) {
  const Measurement before =
      measure_before(f.original, f.data, f.job.eval_batch_size, context, notes, "shrinking");
  std::vector<ShrunkModel> written;
  if (f.job.loadable) {
    TextModel plain = made;
    plain.model = for_other_programs(made.model, context.session());
    written.push_back(write_and_measure(f, plain, f.judged_folder(), before, output, context));
  }
  if (!f.job.loadable || has_packed_weights(made.model.graph))
    written.push_back(write_and_measure(f, made, f.folder(), before, output, context));
  return written;
}

}  // namespace hone
