#pragma once

#include "hone/base/error.h"

/// Handles Ctrl-C (SIGINT) and a scheduler's SIGTERM; long-running work checks for them between steps.
///
///     catch_interrupts();                       // in main
///     for (...) { step(); stop_if_interrupted(); }
namespace hone {

/// Thrown to end interrupted work. The program ends with exit code 128 + the signal's number.
class Interrupted : public Error {
  using Error::Error;
};

/// Installs handlers: the first SIGINT or SIGTERM only requests a stop, with a message on standard error if `announce`; the
/// second ends the process at once, as by default.
void catch_interrupts(bool announce = true);

/// Returns the signal that requested a stop, or 0.
int interrupt_signal();

/// Throws `Interrupted` if a stop was requested.
void stop_if_interrupted();

}  // namespace hone
