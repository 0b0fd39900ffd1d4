#include "hone/cli/command.h"

namespace hone {

Command bench_command();
Command demo_command();
Command draw_command();
Command eval_command();
Command formats_command();
Command inspect_command();
Command plan_command();
Command predict_command();
Command quantize_command();
Command train_command();
Command widths_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> rows = {
      demo_command(),    train_command(),    eval_command(),   formats_command(),
      plan_command(),    quantize_command(), widths_command(), predict_command(),
      inspect_command(), draw_command(),     bench_command(),
  };
  return rows;
}

}  // namespace hone
