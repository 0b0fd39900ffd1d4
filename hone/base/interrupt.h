#pragma once

#include "hone/base/error.h"

/// Ctrl-C (SIGINT) and a scheduler's SIGTERM, as a question that long work asks between two steps.
///
///     catch_interrupts();                       // in main
///     for (...) { step(); stop_if_interrupted(); }
namespace hone {

/// Work that ended because it was asked to. The program ends with exit code 128 + the signal's number.
class Interrupted : public Error {
  using Error::Error;
};

/// From now on the first SIGINT or SIGTERM only asks, with a word on the standard error stream unless it is not to `tell`;
/// the second ends the process at once, as it would have without this call.
void catch_interrupts(bool tell = true);

/// The signal that asked to stop, or 0.
int interrupt_signal();

/// Throws `Interrupted` once somebody asked to stop.
void stop_if_interrupted();

}  // namespace hone
