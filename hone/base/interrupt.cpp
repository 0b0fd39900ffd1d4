#include "hone/base/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace hone {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
volatile std::sig_atomic_t announces = 1;

// A second signal triggers the default action, which SA_RESETHAND restores.
void ask(int signal) {
  caught_signal = signal;
  if (announces == 0) return;
  constexpr std::string_view kMessage =
      "\nstopping after this step; interrupt again to stop at once\n";
  // Nothing can be done if this fails.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
}

}  // namespace

void catch_interrupts(bool announce) {
  announces = announce ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = ask;
  // System calls are restarted; only loops that check stop.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

int interrupt_signal() { return caught_signal; }

void stop_if_interrupted() {
  if (caught_signal != 0) throw Interrupted("interrupted");
}

}  // namespace hone
