#include "hone/runtime/library.h"

#include "hone/ops/list.h"
#include "hone/runtime/fold.h"
#include "hone/runtime/fuse_codes.h"
#include "hone/runtime/fuse_unpack.h"
#include "hone/runtime/pack.h"

namespace hone {

Library builtin_library() {
  PassTable passes = graph_passes();
  // Passes that need a session.
  for (const PassDef& def :
       {fold_parameters_pass(), fuse_unpack_pass(), fuse_codes_pass(), pack_pass(), unpack_pass()})
    passes.emplace(def.name, def);
  return {builtin_ops(), builtin_formats(), cpu_kernels(), std::move(passes)};
}

}  // namespace hone
