#include <algorithm>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/runtime/packed_weight.h"

// Rows of packed tables, decoded one by one.
namespace hone {
namespace {

// Operands of `packed_embedding` and `packed_rows`; the states of the format follow.
constexpr std::size_t kTableCodes = 1, kTableStates = 3;
constexpr std::size_t kRowsCodes = 0, kRowsStates = 2;

template <std::size_t kFirstState>
PackedWeight prepare_table(const Call& call) {
  return packed_weight(call.attributes, call.inputs, kFirstState, Arrangement::rows);
}

// y[i] = row row_of(i) of a table.
template <typename RowOf>
void gather_rows(const Call& call, const PackedRows& table, std::int64_t count, float* y,
                 RowOf&& row_of) {
  const std::int64_t width = table.layout.matrix.columns;
  parallel_ranges(call.pool(), count, kernels::rows_per_chunk(width),
                  [&](std::int64_t begin, std::int64_t end) {
                    static thread_local kernels::Scratch scratch;
                    const auto elements = static_cast<std::size_t>(width);
                    const std::span<std::uint16_t> codes(scratch.codes(elements), elements);
                    for (std::int64_t i = begin; i < end; ++i)
                      table.gather(row_of(i), codes, y + i * width);
                  });
}

void packed_embedding(Call& call) {
  with_prepared<PackedWeight, prepare_table<kTableStates>>(call, [&](const PackedWeight& table) {
    const std::span<const std::int64_t> ids = call.input(0).values<std::int64_t>();
    const std::int64_t count = table.layout.matrix.rows;
    if (!std::ranges::all_of(ids, [&](std::int64_t id) { return id >= 0 && id < count; }))
      return call.op.reference(call);
    with_rows(table, call.inputs, kTableCodes, [&](const PackedRows& rows) {
      gather_rows(call, rows, std::ssize(ids), call.output().data<float>(),
                  [&](std::int64_t i) { return ids[static_cast<std::size_t>(i)]; });
    });
  });
}

void packed_rows(Call& call) {
  with_prepared<PackedWeight, prepare_table<kRowsStates>>(call, [&](const PackedWeight& table) {
    const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
    const std::int64_t count = call.output().size(0);
    if (begin + count > table.layout.matrix.rows) return call.op.reference(call);
    with_rows(table, call.inputs, kRowsCodes, [&](const PackedRows& rows) {
      gather_rows(call, rows, count, call.output().data<float>(),
                  [&](std::int64_t i) { return begin + i; });
    });
  });
}

}  // namespace

KernelTable packed_table_kernels() {
  return {{"packed_embedding", "cpu", "rows", reads_rows, packed_embedding, Layout::dense,
           prepare_once<PackedWeight, prepare_table<kTableStates>>},
          {"packed_rows", "cpu", "rows", reads_rows, packed_rows, Layout::dense,
           prepare_once<PackedWeight, prepare_table<kRowsStates>>}};
}

}  // namespace hone
