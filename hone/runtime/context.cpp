#include "hone/runtime/context.h"

#include "hone/base/own_process.h"

namespace hone {

void tell_notes(const Context& context, const std::vector<std::string>& notes) {
  if (!context.say || context.progress.quiet) return;
  for (const std::string& note : notes) context.say("note: " + note);
}

void tell_warnings(const Context& context, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warning.empty()) continue;
    tell_warning(warning);
    if (context.say) context.say("warning: " + warning);
  }
}

}  // namespace hone
