#pragma once

#include <string>

#include "hone/runtime/session.h"

/// Whether work fits into memory, asked before it begins.
namespace hone {

/// Memory this process may still take: what the machine has available, or what a container's limit leaves of it.
double available_bytes();

/// What a run of the graph takes: its parameters and the peak of its values and of what kernels work in.
double needed_bytes(const Graph& graph, const Bindings& bindings, const Session& session);

/// What those parameters of `other` take that `graph` has not.
double bytes_beside(const Graph& graph, const Graph& other);

/// Throws `UserError` when `graph`, and `beside` bytes that stand beside it, take more than `available`. `what` says for
/// what: "a training step of 8 texts of up to 512 tokens".
void check_memory(const Graph& graph, const Bindings& bindings, const Session& session,
                  const std::string& what, double available = available_bytes(), double beside = 0);

}  // namespace hone
