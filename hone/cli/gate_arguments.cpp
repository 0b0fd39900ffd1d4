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

void declare(CLI::App& app, GateOptions& gates) {
  app.add_option("--max_drop", gates.max_drop_points, "allowed drop of the metric, points")
      ->check(number_from(0));
  app.add_option("--gate", gates.gates, "limit the change of a metric: 'f1_macro>=-0.5'")
      ->allow_extra_args(false)
      ->check(syntax_error);
}

}  // namespace hone
