#include "hone/runtime/context.h"

namespace hone {

void tell_notes(const Context& context, const std::vector<std::string>& notes) {
  if (!context.say || context.progress.quiet) return;
  for (const std::string& note : notes) context.say("note: " + note);
}

void tell_warnings(const Context& context, const std::vector<std::string>& warnings) {
  if (!context.say) return;
  for (const std::string& warning : warnings)
    if (!warning.empty()) context.say("warning: " + warning);
}

}  // namespace hone
