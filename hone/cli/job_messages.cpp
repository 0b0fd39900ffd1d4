#include "hone/cli/job_messages.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "hone/base/own_process.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct Warnings {
  std::mutex mutex;
  std::set<std::string, std::less<>> shown;
  int counted = 0;
};

Warnings& warnings() {
  static Warnings all;
  return all;
}

// Counts a warning that was shown before. Returns whether it was.
bool count_if_shown(std::string_view warning) {
  Warnings& all = warnings();
  const std::lock_guard lock(all.mutex);
  const bool is_new = all.shown.emplace(warning).second && !was_shown_before(std::string(warning));
  all.counted += is_new ? 0 : 1;
  return !is_new;
}

}  // namespace

void print_remark(std::string_view text) {
  constexpr std::string_view kWarning = "warning: ";
  if (text.starts_with(kWarning) && count_if_shown(text.substr(kWarning.size()))) return;
  print_message(text);
}

void print_counted_warnings() {
  const int count = std::exchange(warnings().counted, 0);
  if (count == 1) print_message("warning: 1 warning shown before applies here too");
  if (count > 1)
    print_message(fmt::format("warning: {} warnings shown before apply here too", count));
}

}  // namespace hone
