#include "hone/runtime/pack.h"

#include "hone/base/text.h"
#include "hone/passes/pack.h"
#include "hone/runtime/session.h"

namespace hone {

PassDef pack_pass() {
  return {
      .name = "pack",
      .summary = "store quantized weights in the codes of their formats",
      .run = [](Graph& graph, ParameterStore& parameters, const Attributes&,
                const Session& session) { return pack_weights(graph, parameters, session.pool); }};
}

PassDef unpack_pass() {
  return {.name = "unpack",
          .summary = "store packed weights in fp32 again, with their quantizers",
          .options = {{"parameters", "globs over parameters to unpack, separated by commas",
                       std::string("*")}},
          .example = "parameters=*.query.weight",
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                    const Session& session) {
            return unpack_weights(graph, parameters, session.pool,
                                  split(options.get<std::string>("parameters"), ','));
          }};
}

}  // namespace hone
