// Gathers rows by ids, computes its gradients, and other functions of ids. Rows are copied as bytes, whatever their
// type. An id outside of the table gives a row of NaN; its gradient is dropped.
#include "groups.cuh"

// ---- y[t] = table[ids[t]], a warp per row, in units of 16, 4 or 2 bytes

using Unit16 = Pack<std::uint32_t, 4>;
using Unit4 = Pack<std::uint32_t, 1>;
using Unit2 = Pack<std::uint16_t, 1>;

template <typename Unit>
Unit no_numbers() {
  Unit unit = {};
  for (auto& part : unit.at) --part;  // all ones: NaN in any floating-point type
  return unit;
}

template <typename Unit>
void gather(std::int64_t count, std::int64_t rows, std::int64_t units, const std::int64_t* __restrict__ ids,
            const Unit* __restrict__ table, Unit* __restrict__ y) {
  const std::int64_t place = Warp::group();
  if (place >= count) return;
  const std::int64_t id = ids[place];
  const bool is_inside = id >= 0 && id < rows;
  const Unit* const from = table + (is_inside ? id : 0) * units;
  Unit* const to = y + place * units;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < units; i += 32) to[i] = is_inside ? from[i] : no_numbers<Unit>();
}

extern "C" __global__ void gather_16(std::int64_t count, std::int64_t rows, std::int64_t units,
                                     const std::int64_t* __restrict__ ids, const Unit16* __restrict__ table,
                                     Unit16* __restrict__ y) {
  gather(count, rows, units, ids, table, y);
}
extern "C" __global__ void gather_4(std::int64_t count, std::int64_t rows, std::int64_t units,
                                    const std::int64_t* __restrict__ ids, const Unit4* __restrict__ table,
                                    Unit4* __restrict__ y) {
  gather(count, rows, units, ids, table, y);
}
extern "C" __global__ void gather_2(std::int64_t count, std::int64_t rows, std::int64_t units,
                                    const std::int64_t* __restrict__ ids, const Unit2* __restrict__ table,
                                    Unit2* __restrict__ y) {
  gather(count, rows, units, ids, table, y);
}

// ---- functions of ids

// One warp per text.
extern "C" __global__ void token_positions(std::int64_t texts, std::int64_t length, std::int64_t padding,
                                           const std::int64_t* ids, std::int64_t* y) {
  const std::int64_t text = Warp::group();
  if (text >= texts) return;
  std::int64_t position = padding;
  for (std::int64_t begin = 0; begin < length; begin += 32) {
    const std::int64_t token = begin + threadIdx.x;
    const bool is_there = token < length, counts = is_there && ids[text * length + token] != padding;
    const unsigned counted = __ballot_sync(0xffffffffu, counts), up_to_here = 0xffffffffu >> (31 - threadIdx.x);
    if (is_there) y[text * length + token] = counts ? position + __popc(counted & up_to_here) : padding;
    position += __popc(counted);
  }
}

extern "C" __global__ void attention_mask(std::int64_t count, const std::int64_t* mask, float* y) {
  const std::int64_t i = thread_number();
  if (i < count) y[i] = mask[i] != 0 ? 0.0f : __uint_as_float(0xff7fffffu);  // the lowest float
}

// ---- dx[places[b]] += dy[b], in the order of b; dx is initialized to zero

// The first of equal places adds all their rows. Few are equal, if any.
extern "C" __global__ void take_rows_gradient(std::int64_t count, std::int64_t rows, std::int64_t width,
                                              const std::int64_t* places, const VALUE* __restrict__ dy,
                                              VALUE* __restrict__ dx) {
  const std::int64_t own = blockIdx.x, place = places[own];
  if (place < 0 || place >= rows) return;
  int comes_before = 0, comes_after = 0;
  for (std::int64_t b = threadIdx.x; b < count; b += blockDim.x) {
    if (places[b] != place) continue;
    comes_before |= b < own;
    comes_after |= b > own;
  }
  if (__syncthreads_or(comes_before)) return;
  const std::int64_t end = __syncthreads_or(comes_after) ? count : own + 1;
  for (std::int64_t c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0;
    for (std::int64_t b = own; b < end; ++b)
      if (places[b] == place) sum += to_float(dy[b * width + c]);
    dx[place * width + c] = from_float<VALUE>(sum);
  }
}

// ---- table[v] = sum over t with ids[t] = v of dy[t]

constexpr int kSlice = 128;  // columns of a block: four per lane

/// Four columns of a slice: adjacent ones, read at once, or 32 apart.
template <bool kNeighbours>
struct Columns {
  float at[4];
  static int column(int i) { return kNeighbours ? threadIdx.x * 4 + i : i * 32 + threadIdx.x; }
  // `left`: the columns from the first of the slice to the end of the row.
  static Columns read(const VALUE* from, std::int64_t left) {
    Columns columns = {};
    if (kNeighbours) {
      if (column(0) >= left) return columns;
      const Pack<VALUE, 4> pack = *reinterpret_cast<const Pack<VALUE, 4>*>(from + column(0));
#pragma unroll
      for (int i = 0; i < 4; ++i) columns.at[i] = to_float(pack.at[i]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (column(i) < left) columns.at[i] = to_float(from[column(i)]);
    }
    return columns;
  }
};

// For tables of few rows: each warp sums a run of tokens into its own rows in shared memory, and stores these in
// partials (runs, rows, width).
template <bool kNeighbours>
void sum_few_rows(std::int64_t count, std::int64_t rows, std::int64_t width, std::int64_t padding, std::int64_t run,
                  std::int64_t runs, const std::int64_t* __restrict__ ids, const VALUE* __restrict__ dy,
                  float* __restrict__ partials) {
  extern __shared__ float memory[];
  const std::int64_t number = Warp::group();
  if (number >= runs) return;  // no barrier follows: lanes have columns of their own
  const std::int64_t first_column = std::int64_t(blockIdx.y) * kSlice, left = width - first_column;
  float* const sums = memory + threadIdx.y * rows * kSlice;
  for (std::int64_t i = 0; i < rows; ++i)
#pragma unroll
    for (int c = 0; c < 4; ++c) sums[i * kSlice + Columns<kNeighbours>::column(c)] = 0;
  const std::int64_t end = min((number + 1) * run, count);
  constexpr int kTogether = 8;
  for (std::int64_t begin = number * run; begin < end; begin += kTogether) {
    std::int64_t id[kTogether];
    Columns<kNeighbours> columns[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      id[i] = begin + i < end ? ids[begin + i] : -1;
      columns[i] = Columns<kNeighbours>::read(dy + min(begin + i, end - 1) * width + first_column, left);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (id[i] < 0 || id[i] >= rows || id[i] == padding) continue;
#pragma unroll
      for (int c = 0; c < 4; ++c) sums[id[i] * kSlice + Columns<kNeighbours>::column(c)] += columns[i].at[c];
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int column = Columns<kNeighbours>::column(c);
      if (column < left) partials[(number * rows + i) * width + first_column + column] = sums[i * kSlice + column];
    }
}

extern "C" __global__ void sum_few_rows_4(std::int64_t count, std::int64_t rows, std::int64_t width,
                                          std::int64_t padding, std::int64_t run, std::int64_t runs,
                                          const std::int64_t* __restrict__ ids, const VALUE* __restrict__ dy,
                                          float* __restrict__ partials) {
  sum_few_rows<true>(count, rows, width, padding, run, runs, ids, dy, partials);
}
extern "C" __global__ void sum_few_rows_1(std::int64_t count, std::int64_t rows, std::int64_t width,
                                          std::int64_t padding, std::int64_t run, std::int64_t runs,
                                          const std::int64_t* __restrict__ ids, const VALUE* __restrict__ dy,
                                          float* __restrict__ partials) {
  sum_few_rows<false>(count, rows, width, padding, run, runs, ids, dy, partials);
}

// For tables of many rows: marks (rows, words) have a bit for each chunk of tokens in which the row occurs, and `used_rows`
// lists the rows that occur, each once. The order of that list is arbitrary; sums do not depend on it.
constexpr int kWarps = 8, kChunk = kWarps * 32;

extern "C" __global__ void mark_rows(std::int64_t count, std::int64_t rows, std::int64_t padding, std::int64_t words,
                                     const std::int64_t* ids, std::uint32_t* marks, std::uint32_t* is_used,
                                     std::uint32_t* used_row_count, std::int64_t* used_rows) {
  const std::int64_t token = thread_number();
  if (token >= count) return;
  const std::int64_t id = ids[token], chunk = token / kChunk;
  if (id < 0 || id >= rows || id == padding) return;
  atomicOr(marks + id * words + chunk / 32, 1u << (chunk % 32));
  if (atomicExch(is_used + id, 1u) == 0) used_rows[atomicAdd(used_row_count, 1u)] = id;
}

/// Iterates over the chunks in which a row occurs.
struct Marks {
  const std::uint32_t* marks;
  std::int64_t words, word = 0;
  std::uint32_t bits;
  Marks(const std::uint32_t* marks, std::int64_t words) : marks(marks), words(words), bits(marks[0]) {}
  // Returns -1 after the last one.
  std::int64_t next() {
    while (bits == 0 && word + 1 < words) bits = marks[++word];
    if (bits == 0) return -1;
    const int bit = __ffs(int(bits)) - 1;
    bits &= bits - 1;
    return word * 32 + bit;
  }
};

// Blocks of (32, kWarps) threads sum a slice of a row's columns. All threads search for the row's tokens, some chunks
// at a time, and list them in order. Each warp adds every kWarps-th token of the list.
template <bool kNeighbours>
void sum_used_rows(std::int64_t count, std::int64_t width, std::int64_t words, const std::int64_t* __restrict__ ids,
                  const std::uint32_t* __restrict__ all_marks, const std::uint32_t* __restrict__ used_row_count,
                  const std::int64_t* __restrict__ used_rows, const VALUE* __restrict__ dy, float* __restrict__ table) {
  constexpr int kTogether = 32 / kWarps, kListed = 2 * kTogether * kChunk;
  __shared__ std::int64_t list[kListed];
  __shared__ int found[kTogether * kWarps];
  __shared__ float parts[kWarps][kSlice];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const std::int64_t first_column = std::int64_t(blockIdx.y) * kSlice, left = width - first_column;
  for (std::int64_t i = blockIdx.x; i < *used_row_count; i += gridDim.x) {
    const std::int64_t id = used_rows[i];
    Marks marks(all_marks + id * words, words);
    Columns<kNeighbours> sum = {};
    int listed = 0;
    const auto add_listed = [&] {
#pragma unroll 4
      for (int k = warp; k < listed; k += kWarps) {
        const Columns<kNeighbours> columns = Columns<kNeighbours>::read(dy + list[k] * width + first_column, left);
#pragma unroll
        for (int c = 0; c < 4; ++c) sum.at[c] += columns.at[c];
      }
      listed = 0;
    };
    while (true) {
      std::int64_t tokens[kTogether];
      unsigned matches[kTogether];
      bool is_last = false;
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const std::int64_t chunk = marks.next();
        is_last = chunk < 0;
        tokens[k] = chunk * kChunk + warp * 32 + lane;
        matches[k] = __ballot_sync(0xffffffffu, chunk >= 0 && tokens[k] < count && ids[tokens[k]] == id);
        if (lane == 0) found[k * kWarps + warp] = __popc(matches[k]);
      }
      __syncthreads();
      int up_to = found[lane];  // of chunks and warps up to this one
#pragma unroll
      for (int apart = 1; apart < 32; apart *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, up_to, apart);
        if (lane >= apart) up_to += before;
      }
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const int before = __shfl_sync(0xffffffffu, up_to, k * kWarps + warp) - __popc(matches[k]);
        if ((matches[k] >> lane & 1u) != 0)
          list[listed + before + __popc(matches[k] & ((1u << lane) - 1u))] = tokens[k];
      }
      listed += __shfl_sync(0xffffffffu, up_to, 31);
      __syncthreads();
      if (is_last) break;
      if (listed <= kListed - kTogether * kChunk) continue;
      add_listed();
      __syncthreads();  // before the list is overwritten
    }
    add_listed();
#pragma unroll
    for (int c = 0; c < 4; ++c) parts[warp][Columns<kNeighbours>::column(c)] = sum.at[c];
    __syncthreads();
    const int column = warp * 32 + lane;
    if (column < kSlice && column < left) {
      float whole = parts[0][column];
#pragma unroll
      for (int k = 1; k < kWarps; ++k) whole += parts[k][column];
      table[id * width + first_column + column] = whole;
    }
    __syncthreads();  // before the list is overwritten
  }
}

extern "C" __global__ void __launch_bounds__(kChunk)
    sum_used_rows_4(std::int64_t count, std::int64_t width, std::int64_t words, const std::int64_t* __restrict__ ids,
                   const std::uint32_t* __restrict__ marks, const std::uint32_t* __restrict__ used_row_count,
                   const std::int64_t* __restrict__ used_rows, const VALUE* __restrict__ dy, float* __restrict__ table) {
  sum_used_rows<true>(count, width, words, ids, marks, used_row_count, used_rows, dy, table);
}
extern "C" __global__ void __launch_bounds__(kChunk)
    sum_used_rows_1(std::int64_t count, std::int64_t width, std::int64_t words, const std::int64_t* __restrict__ ids,
                   const std::uint32_t* __restrict__ marks, const std::uint32_t* __restrict__ used_row_count,
                   const std::int64_t* __restrict__ used_rows, const VALUE* __restrict__ dy, float* __restrict__ table) {
  sum_used_rows<false>(count, width, words, ids, marks, used_row_count, used_rows, dy, table);
}
