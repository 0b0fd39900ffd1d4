#include "hone/cli/gate_arguments.h"

#include "hone/cli/arguments.h"
#include "hone/metrics/gate.h"

namespace hone {
namespace {

// An option is checked as it is read; whether the model has such a metric or class is known later.
std::string syntax_error(const std::string& gate) {
  try {
    check_gate_syntax(gate);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void declare(CLI::App& app, GateOptions& gates, const std::string& consequence) {
  app.add_option("--max_drop", gates.max_drop_points,
                 "points of accuracy, or of what else the task is judged by, that may be lost" +
                     consequence +
                     "; exit code 3 unless the whole 95 % interval of the change is shown to lie "
                     "above minus them")
      ->check(number_from(0));
  app.add_option("--gate", gates.gates,
                 "points that another metric may change: 'f1_macro>=-0.5', 'recall(CLASS)>=-2'; "
                 "may be repeated, and all must hold; see docs/gates.md")
      ->allow_extra_args(false)
      ->check(syntax_error);
}

}  // namespace hone
