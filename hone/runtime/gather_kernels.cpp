#include <algorithm>

#include "hone/kernels/embedding.h"
#include "hone/runtime/cpu_kernels.h"

// Lookups in embedding tables.
namespace hone {
namespace {

// The reference reports ids outside the table.
bool valid_ids(const Call& call, std::int64_t rows) {
  return std::ranges::all_of(call.input(0).values<std::int64_t>(),
                             [rows](std::int64_t id) { return id >= 0 && id < rows; });
}

void embedding(Call& call) {
  if (!valid_ids(call, call.input(1).size(0))) return call.op.reference(call);
  kernels::gather_rows(call.pool(), row_length(call.input(1)), floats(call, 1), count(call),
                       call.input(0).data<std::int64_t>(), call.output().data<float>());
}

void embedding_gradient(Call& call) {
  if (!valid_ids(call, call.attributes.get<std::int64_t>("rows"))) return call.op.reference(call);
  Tensor& table = call.output();
  kernels::gather_rows_gradient(call.pool(), table.size(0), table.size(1), count(call),
                                call.input(0).data<std::int64_t>(), floats(call, 1),
                                table.data<float>());
  const std::int64_t padding = call.attributes.get<std::int64_t>("padding");
  if (padding >= 0 && padding < table.size(0))
    std::ranges::fill(table.slice(0, padding, padding + 1).values<float>(), 0.0f);
}

void embedding_gradient_by_row(Call& call) {
  const std::int64_t rows = call.attributes.get<std::int64_t>("rows");
  if (!valid_ids(call, rows)) return call.op.reference(call);
  kernels::gather_rows_gradient_by_row(
      call.pool(), rows, row_length(call.input(1)), count(call), call.input(0).data<std::int64_t>(),
      call.attributes.get<std::int64_t>("padding"), floats(call, 1),
      call.output(0).data<std::int64_t>(), call.output(1).data<float>());
}

}  // namespace

KernelTable gather_kernels() {
  return {
      {"embedding", "cpu", "rows", anything, embedding},
      {"embedding_gradient", "cpu", "rows", anything, embedding_gradient},
      {"embedding_gradient_by_row", "cpu", "rows", anything, embedding_gradient_by_row},
  };
}

}  // namespace hone
