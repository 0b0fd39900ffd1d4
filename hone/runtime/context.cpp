#include "hone/runtime/context.h"

#include "hone/base/own_process.h"

namespace hone {

void print_notes(const Context& context, const std::vector<std::string>& notes) {
  if (!context.on_message || context.progress.quiet) return;
  for (const std::string& note : notes) context.on_message("note: " + note);
}

void print_warnings(const Context& context, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warning.empty()) continue;
    report_warning(warning);
    if (context.on_message) context.on_message("warning: " + warning);
  }
}

}  // namespace hone
