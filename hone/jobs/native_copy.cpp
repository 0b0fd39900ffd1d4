#include "hone/jobs/native_copy.h"

#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/runtime/packed_kernels.h"

namespace hone {

Model native_copy(const Model& model, const Format& weight, Context& context) {
  check_unquantized(model);
  LayerFormats formats;
  formats.weight = weight;
  formats.input = native_input(weight, context.library.formats);
  CompressOptions options;
  options.plan = uniform_plan(plain_graph(model), formats);
  Model native = compress(model, {}, options, context);
  transform(native, "pack", context.session());
  return native;
}

}  // namespace hone
