#include "hone/runtime/library.h"

#include "hone/ops/list.h"
#include "hone/runtime/fold.h"

namespace hone {

Library builtin_library() {
  PassTable passes = graph_passes();
  const PassDef fold = fold_parameters_pass();  // the one that runs the graph
  passes.emplace(fold.name, fold);
  return {builtin_ops(), builtin_formats(), cpu_kernels(), std::move(passes)};
}

}  // namespace hone
